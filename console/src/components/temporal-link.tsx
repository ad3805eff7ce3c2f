import { useConfig } from '../shell/config.ts';

/** The address of a workflow in Temporal's UI, if the service knows it. */
export function useTemporalAddress(workflowId: string | null | undefined): string | undefined {
  const base = useConfig()?.temporal_workflows_url;
  return base && workflowId ? `${base}/${encodeURIComponent(workflowId)}` : undefined;
}

/** A link to the workflow in Temporal's UI, if the service knows its address. */
export function TemporalLink({
  workflowId,
  small = false,
}: {
  workflowId: string | null | undefined;
  small?: boolean;
}) {
  const address = useTemporalAddress(workflowId);
  if (address === undefined) return null;
  return (
    <a className={small ? 'button small' : 'button'} href={address} target="_blank" rel="noreferrer">
      Workflow in Temporal
    </a>
  );
}
