import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { get, type Page } from '../../api.ts';
import type { Prompt } from '../../api-types.ts';
import { DialogButton } from '../../components/button.tsx';
import { promptLabelsQuery, promptQuery, versionScoresQuery } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { t } from '../../strings.ts';
import type { Release } from '../releases/types.ts';

const MoveLabelDialog = lazy(async () => ({ default: (await import('./move-label-dialog.tsx')).MoveLabelDialog }));

const LABEL = 'production';

interface LabelMove {
  details: { label?: string; version?: number; previous_version?: number | null };
}

/**
 * The version that had the label before the current one: from the audit log, or without the permission to read it from the releases.
 * Undefined if there was none, or it is unknown.
 */
function usePrevious(name: string): number | undefined {
  const isAdmin = useMay('admin');
  const current = useQuery(promptLabelsQuery(name)).data?.find(({ label }) => label === LABEL)?.version;
  const moves = useQuery({
    queryKey: ['prompts', 'label-moves', name],
    queryFn: ({ signal }) =>
      get<Page<LabelMove>>('/audit-log', { action: 'label.moved', resource: `prompt:${name}` }, signal),
    enabled: isAdmin && current !== undefined,
  }).data?.data;
  const releases = useQuery({
    queryKey: ['releases', 'latest', name],
    queryFn: ({ signal }) =>
      get<Page<Release>>('/releases', { prompt_name: name, label: LABEL, status: 'succeeded', limit: 1 }, signal),
    enabled: !isAdmin && current !== undefined,
  }).data?.data;
  if (current === undefined) return undefined;
  const before = [
    ...(moves ?? []).flatMap(({ details }) =>
      details.label === LABEL && details.version === current ? [details.previous_version ?? 0] : [],
    ),
    ...(releases ?? []).flatMap((release) =>
      release.candidate_version === current ? [release.stable_version ?? 0] : [],
    ),
  ][0];
  // A version after it was rolled back: to return to it is no roll-back.
  return before !== undefined && before > 0 && before < current ? before : undefined;
}

/** A button that gives callers the version from before; nothing if there is none. */
export function RollBack({ name }: { name: string }) {
  const version = usePrevious(name);
  const mayWrite = useMay('write');
  if (version === undefined || !mayWrite) return null;
  return (
    <DialogButton
      label={`Roll back production to v${version}…`}
      look="small"
      dialog={(close) => (
        <Suspense>
          <RollBackDialog name={name} version={version} onClose={close} />
        </Suspense>
      )}
    />
  );
}

function RollBackDialog({ name, version, onClose }: Pick<Prompt, 'name' | 'version'> & { onClose: () => void }) {
  const prompt = useQuery(promptQuery(name, version)).data;
  const scores = useQuery(versionScoresQuery(name)).data;
  if (prompt === undefined) return null;
  return (
    <MoveLabelDialog
      title={t(`Roll back production to version ${version}`)}
      version={prompt}
      scores={scores}
      onClose={onClose}
    />
  );
}
