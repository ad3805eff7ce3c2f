import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { PageHead } from '../../components/page.tsx';
import { QueryState } from '../../components/states.tsx';
import { executionQuery } from '../../queries.ts';
import { ExecutionActions } from './execution-actions.tsx';
import { ExecutionDetails } from './execution-details.tsx';
import { executionRoute } from './routes.ts';

export function ExecutionPage() {
  const { id } = executionRoute.useParams();
  const query = useQuery(executionQuery(id));
  const navigate = useNavigate();
  return (
    <>
      <PageHead
        title={`Execution ${id.slice(-12)}`}
        crumbs={
          <ol className="crumbs">
            <li>
              <Link to="/executions">Executions</Link>
            </li>
            <li className="mono">{id}</li>
          </ol>
        }
        actions={
          query.data && <ExecutionActions execution={query.data} onDeleted={() => navigate({ to: '/executions' })} />
        }
      />
      <QueryState query={query} what="the execution">
        {(execution) => <ExecutionDetails execution={execution} />}
      </QueryState>
    </>
  );
}
