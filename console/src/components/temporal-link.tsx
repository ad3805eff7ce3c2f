import { useConfig } from '../shell/config.ts';

/** To the workflow in Temporal's UI, where the service knows of one. */
export function TemporalLink({ workflowId }: { workflowId: string | null | undefined }) {
  const base = useConfig()?.temporal_workflows_url;
  if (!base || !workflowId) return null;
  return (
    <a className="button" href={`${base}/${encodeURIComponent(workflowId)}`} target="_blank" rel="noreferrer">
      Workflow in Temporal
    </a>
  );
}
