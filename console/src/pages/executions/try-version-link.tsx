import { Link } from '@tanstack/react-router';
import { FlaskConical } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ExecutionsSelection } from '../evaluations/run-form-state.ts';

/** Ids are in the address of the form: more would make it too long. */
export const MOST_TRIED = 100;

/** Opens the form for an evaluation of another version of a prompt over executions. */
export function TryVersionLink({
  prompt,
  executions,
  small = false,
  children,
}: {
  prompt: string | undefined;
  executions: ExecutionsSelection;
  small?: boolean;
  children: ReactNode;
}) {
  return (
    <Link to="/evaluations/new" search={{ prompt, executions }} className={small ? 'button small' : 'button'}>
      <FlaskConical size={16} aria-hidden />
      {children}
    </Link>
  );
}
