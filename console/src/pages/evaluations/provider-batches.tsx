import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { pathOf, post } from '../../api.ts';
import type { Evaluation } from '../../api-types.ts';
import { StatusBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { Section } from '../../components/section.tsx';
import { showToast } from '../../components/toast.tsx';
import { formatNumber, formatTime, NONE, plural } from '../../format.ts';
import { replaceData } from '../../queries.ts';
import { useMay } from '../../shell/session.ts';
import { evaluationKey } from './queries.ts';

type Batch = NonNullable<Evaluation['batches']>[number];

/** The provider batches of a run, if it has any. */
export function ProviderBatches({ evaluation }: { evaluation: Evaluation }) {
  const { id, batches = [], batch } = evaluation;
  const [resubmitted, setResubmitted] = useState<Batch>();
  if (batches.length === 0) return null;
  return (
    <Section id="provider-batches" title="Provider batches">
      {batch && (
        <p className="muted">
          The run waits at most {batch.max_wait} for each. Calls without a response by then{' '}
          {batch.then === 'fail' ? 'count as failed' : 'are made one by one'}.
        </p>
      )}
      <div className="batches-scroll" tabIndex={0} role="region" aria-label="Provider batches: table">
        <table className="simple-table">
          <thead>
            <tr>
              <th scope="col">Batch</th>
              <th scope="col">Calls of</th>
              <th scope="col">At the provider</th>
              <th scope="col">State</th>
              <th scope="col">Calls done</th>
              <th scope="col">Submitted</th>
              <th scope="col">Expected by</th>
              <th scope="col">Next check</th>
            </tr>
          </thead>
          <tbody>
            {batches.map((each) => (
              <BatchRow key={each.number} batch={each} onResubmit={() => setResubmitted(each)} />
            ))}
          </tbody>
        </table>
      </div>
      {resubmitted && (
        <ResubmitDialog evaluationId={id} batch={resubmitted} onClose={() => setResubmitted(undefined)} />
      )}
    </Section>
  );
}

function BatchRow({ batch, onResubmit }: { batch: Batch; onResubmit: () => void }) {
  const mayExecute = useMay('execute');
  const { number, evaluator, model, provider, status, counts, items, error } = batch;
  const isEnded = batch.finished_at !== null;
  return (
    <tr>
      <th scope="row">{number}</th>
      <td>{evaluator === null ? model : `${evaluator}: ${model}`}</td>
      <td>
        {provider} <span className="mono">{batch.provider_batch_id ?? NONE}</span>
      </td>
      <td>
        <StatusBadge status={status} />
        {batch.provider_status !== null && batch.provider_status !== status && (
          <span className="muted"> {batch.provider_status}</span>
        )}
        {error && (
          <p className="field-error">
            {error.code}: {error.message}
          </p>
        )}
        {status === 'unknown' && (
          <>
            <p>The provider did not confirm it. The service is looking for it.</p>
            {mayExecute && (
              <Button look="small" onClick={onResubmit}>
                Submit again…<span className="visually-hidden"> batch {number}</span>
              </Button>
            )}
          </>
        )}
      </td>
      <td>
        {counts === null
          ? `${formatNumber(items)} in all`
          : `${formatNumber(counts.succeeded + counts.failed)} of ${formatNumber(counts.total)}`}
        {counts !== null && counts.failed > 0 && <span className="muted"> ({formatNumber(counts.failed)} failed)</span>}
      </td>
      <td>{formatTime(batch.submitted_at)}</td>
      <td>{isEnded ? NONE : formatTime(batch.expires_at)}</td>
      <td>{isEnded ? NONE : formatTime(batch.next_poll_at)}</td>
    </tr>
  );
}

function ResubmitDialog({ evaluationId, batch, onClose }: { evaluationId: string; batch: Batch; onClose: () => void }) {
  const client = useQueryClient();
  const { number, items, provider } = batch;
  return (
    <FormDialog
      open
      onClose={onClose}
      title={`Submit batch ${number} again?`}
      description={`${provider} may have this batch already. If so, both are processed, and ${plural(items, 'call is', 'calls are')} paid for twice. Look for it in the provider’s own console first.`}
      submitLabel="Submit it again"
      danger
      onSubmit={async () => {
        const path = `${pathOf('evaluations', evaluationId, 'batches', number)}/resubmit`;
        replaceData(client, evaluationKey(evaluationId), await post<Evaluation>(path));
        showToast(`Batch ${number} is submitted again.`);
      }}
    />
  );
}
