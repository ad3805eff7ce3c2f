import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { promptLabelsQuery } from '../../queries.ts';

/** Where the labels of a prompt point, each with the way to that version. */
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
