import { Link } from '@tanstack/react-router';
import type { Evaluation } from '../api-types.ts';
import { formatNumber } from '../format.ts';
import { t } from '../strings.ts';
import { NameText } from './name-text.tsx';

const TONES: Record<string, string> = {
  completed: 'good',
  succeeded: 'good',
  enabled: 'good',
  delivered: 'good',
  ok: 'good',
  error: 'bad',
  failed: 'bad',
  disabled: 'bad',
  abandoned: 'bad',
  canceled: 'warn',
  paused: 'warn',
  running: 'accent',
  in_progress: 'accent',
  settling: 'accent',
  unknown: 'warn',
  expired: 'warn',
  queued: '',
};

/** The state of an execution, a trace, an evaluation, a provider batch, a webhook, a delivery. */
export function StatusBadge({ status }: { status: string }) {
  return <span className={`badge ${TONES[status] ?? ''}`}>{status}</span>;
}

/** The state of a webhook: one whose latest deliveries failed is not shown as a success. */
export function WebhookBadge({
  webhook: { status, consecutive_failures: failures },
}: {
  webhook: { status: string; consecutive_failures: number };
}) {
  if (status !== 'enabled' || failures === 0) return <StatusBadge status={status} />;
  return <span className="badge bad">failing, {formatNumber(failures)} ×</span>;
}

/** The state of an evaluation: a run that completed with failures, or did not pass, is not shown as a success. */
export function EvaluationBadge({ evaluation }: { evaluation: Evaluation }) {
  const { status, examples_failed: failed, examples_evaluated: evaluated, passed, score } = evaluation;
  if (status === 'completed' && failed === 0 && (passed === false || score === 0))
    return <span className="badge">{status}</span>;
  if (status !== 'completed' || failed === 0) return <StatusBadge status={status} />;
  return failed === evaluated ? (
    <span className="badge bad">all failed</span>
  ) : (
    <span className="badge warn">{formatNumber(failed)} failed</span>
  );
}

/** @param version where the label points, unless it is obvious */
export function LabelBadge({ label, version }: { label: string; version?: number | undefined }) {
  return (
    <span className={`badge ${label === 'production' ? 'accent' : ''}`}>
      {version === undefined ? label : `${label} → v${version}`}
    </span>
  );
}

/** `v3`; a run of a draft has no version. */
export const versionOf = ({ prompt_version }: Pick<Evaluation, 'prompt_version'>) =>
  prompt_version === 0 ? t('draft') : `v${prompt_version}`;

/** `support/greeting@3`; a run of a draft or of code has no version. */
export const titleOf = ({ prompt_name, prompt_version, target }: Evaluation) => {
  if (prompt_version !== 0) return `${prompt_name}@${prompt_version}`;
  return target.type === 'prompt' ? t(`${prompt_name} (draft)`) : prompt_name;
};

/** The target of an evaluation: a prompt, a draft of one, or code, which has a name but no page. */
export function TargetLink({
  evaluation: { target, prompt_version, from_executions: from },
}: {
  evaluation: Evaluation;
}) {
  if (target.type === 'prompt' && prompt_version !== 0)
    return <PromptLink name={target.name} version={prompt_version} />;
  if (target.type === 'prompt')
    return (
      <>
        <PromptLink name={target.name} /> <span className="badge">{from?.recorded ? 'recorded' : 'draft'}</span>
      </>
    );
  return (
    <>
      {target.name} <span className="badge">code</span>
    </>
  );
}

/** A prompt with its version, if any. */
export function PromptLink({ name, version }: { name: string | null; version?: number | null | undefined }) {
  if (name === null) return <span className="muted">draft</span>;
  return (
    <Link to="/prompts/$" params={{ _splat: name }} search={version == null ? {} : { version }}>
      <NameText name={name} version={version} />
    </Link>
  );
}
