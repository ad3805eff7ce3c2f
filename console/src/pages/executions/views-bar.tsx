import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { BookmarkPlus, Users } from 'lucide-react';
import { useState } from 'react';
import { get, type Page, pathOf, put, remove } from '../../api.ts';
import type { View } from '../../api-types.ts';
import { Button } from '../../components/button.tsx';
import { FormDialog } from '../../components/dialog.tsx';
import { CheckField, TextField } from '../../components/fields.tsx';
import { showError, showToast } from '../../components/toast.tsx';
import { useMay } from '../../shell/session.ts';
import { type ExecutionsSearch, FILTER_NAMES, NO_FILTER } from './filter.ts';
import { executionsRoute } from './routes.ts';

const VIEWS = ['views', 'executions'];

/** Parts of an address that a view keeps in addition to the columns. */
const KEPT = [...FILTER_NAMES, 'order'] as const;

const keptOf = (search: ExecutionsSearch) => KEPT.filter((name) => search[name] !== undefined);

/** The filters and order of an address, in the form of a view. */
const filtersOf = (search: ExecutionsSearch): Record<string, string> =>
  Object.fromEntries(keptOf(search).map((name) => [name, String(search[name])]));

/** The address of a view. Parameters unknown to this page are dropped. */
function searchOf({ query, columns }: View): ExecutionsSearch {
  const known = Object.fromEntries(KEPT.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
  const parse = executionsRoute.options.validateSearch as (search: Record<string, unknown>) => ExecutionsSearch;
  return parse({ ...known, columns: columns.length > 0 ? columns.join(',') : undefined });
}

const isSame = (view: View, search: ExecutionsSearch): boolean => {
  const [mine, given] = [filtersOf(searchOf(view)), filtersOf(search)];
  return (
    KEPT.every((name) => mine[name] === given[name]) &&
    (view.columns.length === 0 || search.columns === view.columns.join(','))
  );
};

/** The saved views of the list, the user's own and shared ones, as tabs. */
export function ViewsBar({ search, columns }: { search: ExecutionsSearch; columns: readonly string[] }) {
  const client = useQueryClient();
  const { data } = useQuery({
    queryKey: VIEWS,
    queryFn: ({ signal }) => get<Page<View>>('/views', { page: 'executions', limit: 1000 }, signal),
  });
  const [saving, setSaving] = useState(false);
  const views = data?.data ?? [];
  const current = views.find((view) => isSame(view, search));
  const isPlain = keptOf(search).length === 0 && search.columns === undefined;
  const reload = () => client.invalidateQueries({ queryKey: VIEWS });
  const deleteView = async ({ name }: View) => {
    await remove(pathOf('views', name));
    await reload();
    showToast(`The view ${name} was deleted.`);
  };
  if (views.length === 0 && isPlain) return null;
  return (
    <div className="views">
      {views.length > 0 && (
        <nav aria-label="Views" className="tabs-list">
          <Link
            to="/executions"
            search={{ ...NO_FILTER, order: undefined, columns: undefined, open: undefined }}
            className="tab"
            aria-current={isPlain ? 'page' : undefined}
            activeOptions={{ exact: true, includeSearch: true }}
          >
            All
          </Link>
          {views.map((view) => (
            <Link
              key={`${view.owner} ${view.name}`}
              to="/executions"
              search={{ ...NO_FILTER, order: undefined, open: undefined, ...searchOf(view) }}
              className="tab"
              activeOptions={{ exact: true, includeSearch: true }}
              aria-current={view === current ? 'page' : undefined}
            >
              {view.name}
              {view.shared && (
                <>
                  {' '}
                  <Users size={14} aria-label="shared" className="icon" />
                </>
              )}
            </Link>
          ))}
        </nav>
      )}
      {!isPlain && (
        <div className="row">
          {current?.own && (
            <Button look="plain small" onClick={() => void deleteView(current).catch(showError)}>
              Delete this view
            </Button>
          )}
          {current === undefined && (
            <Button look="plain small" onClick={() => setSaving(true)}>
              <BookmarkPlus size={16} aria-hidden />
              Save as a view…
            </Button>
          )}
        </div>
      )}
      {saving && (
        <SaveDialog
          names={views.filter(({ own }) => own).map(({ name }) => name)}
          settings={{ query: filtersOf(search), columns }}
          onSaved={reload}
          onClose={() => setSaving(false)}
        />
      )}
    </div>
  );
}

function SaveDialog({
  names,
  settings: { query, columns },
  onSaved,
  onClose,
}: {
  names: readonly string[];
  settings: { query: Record<string, string>; columns: readonly string[] };
  onSaved: () => Promise<unknown>;
  onClose: () => void;
}) {
  const [name, setName] = useState('');
  const [shared, setShared] = useState(false);
  const navigate = executionsRoute.useNavigate();
  const mayShare = useMay('write');
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Save as a view"
      description="Saves these filters, this order and these columns as a named tab above the list."
      submitLabel="Save"
      onSubmit={async () => {
        await put<View>(pathOf('views', name.trim()), { page: 'executions', query, columns, shared });
        await onSaved();
        await navigate({ search: (before) => ({ ...before, columns: columns.join(',') }), replace: true });
        showToast(`The view ${name.trim()} was saved.`);
      }}
    >
      <TextField
        label="Name"
        required
        maxLength={80}
        value={name}
        onChange={setName}
        hint={names.includes(name.trim()) && 'A view with this name exists and will be replaced.'}
      />
      {mayShare && <CheckField label="All members of the workspace see it" checked={shared} onChange={setShared} />}
    </FormDialog>
  );
}
