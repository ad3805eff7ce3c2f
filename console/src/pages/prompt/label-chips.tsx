import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { promptLabelsQuery } from '../../queries.ts';

/** The labels of a prompt, each with a link to its version. */
export function LabelChips({ name }: { name: string }) {
  const { data: labels } = useQuery(promptLabelsQuery(name));
  return labels?.map(({ label, version }) => (
    <Link
      key={label}
      to="/prompts/$"
      params={{ _splat: name }}
      search={{ version }}
      className={`badge ${label === 'production' ? 'accent' : ''}`}
    >
      {label} → v{version}
    </Link>
  ));
}
