import { useConfig } from '../shell/config.ts';

/** A link to the workflow in Temporal's UI, if the service knows its address. */
export function TemporalLink({
  workflowId,
  small = false,
}: {
  workflowId: string | null | undefined;
  small?: boolean;
}) {
  const base = useConfig()?.temporal_workflows_url;
  if (!base || !workflowId) return null;
  return (
    <a
      className={small ? 'button small' : 'button'}
      href={`${base}/${encodeURIComponent(workflowId)}`}
      target="_blank"
      rel="noreferrer"
    >
      Workflow in Temporal
    </a>
  );
}
