import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { RecordPage } from '../../components/record-page.tsx';
import { executionQuery } from '../../queries.ts';
import { ExecutionActions } from './execution-actions.tsx';
import { ExecutionDetails } from './execution-details.tsx';
import { executionRoute } from './routes.ts';

export function ExecutionPage() {
  const { id } = executionRoute.useParams();
  const query = useQuery(executionQuery(id));
  const navigate = useNavigate();
  return (
    <RecordPage
      title={`Execution ${id.slice(-12)}`}
      list={{ to: '/executions', label: 'Executions', back: 'Back to executions' }}
      id={id}
      actions={
        query.data && <ExecutionActions execution={query.data} onDeleted={() => navigate({ to: '/executions' })} />
      }
      missing="There is no such execution"
      query={query}
      what="the execution"
    >
      {(execution) => <ExecutionDetails execution={execution} />}
    </RecordPage>
  );
}
