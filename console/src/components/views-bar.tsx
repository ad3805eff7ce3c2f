import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, type LinkOptions } from '@tanstack/react-router';
import { BookmarkPlus, Users } from 'lucide-react';
import { useState } from 'react';
import { get, type Page, pathOf, put, remove } from '../api.ts';
import type { View } from '../api-types.ts';
import { useMay } from '../shell/session.ts';
import { Button } from './button.tsx';
import { FormDialog } from './dialog.tsx';
import { CheckField, TextField } from './fields.tsx';
import { showError, showToast } from './toast.tsx';
import './peek.css';

/** The address of a list that can have views. */
type ListSearch = { columns?: string | undefined } & Record<string, unknown>;

/** A list whose filters, order and columns can be saved as views. */
export interface ViewedList<Search extends ListSearch> {
  page: View['page'];
  /** Parts of an address that a view keeps in addition to the columns: filters and order. */
  kept: readonly (keyof Search & string)[];
  /** Reads an address. */
  parse: (search: Record<string, unknown>) => Search;
  /** Links to an address; parameters that it does not have are removed. */
  linkTo: (search: Partial<Search>) => LinkOptions;
}

function readViews<Search extends ListSearch>({ kept, parse }: ViewedList<Search>) {
  const keptOf = (search: Search) => kept.filter((name) => search[name] !== undefined);
  /** The filters and order of an address, in the form of a view. */
  const filtersOf = (search: Search): Record<string, string> =>
    Object.fromEntries(keptOf(search).map((name) => [name, String(search[name])]));
  /** The address of a view. Parameters unknown to this page are dropped. */
  const searchOf = ({ query, columns }: View): Search => {
    const known = Object.fromEntries(kept.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
    return parse({ ...known, columns: columns.length > 0 ? columns.join(',') : undefined });
  };
  const isSame = (view: View, search: Search): boolean => {
    const [mine, given] = [filtersOf(searchOf(view)), filtersOf(search)];
    return (
      kept.every((name) => mine[name] === given[name]) &&
      (view.columns.length === 0 || search.columns === view.columns.join(','))
    );
  };
  return { keptOf, filtersOf, searchOf, isSame };
}

/** The saved views of a list, the user's own and shared ones, as tabs. */
export function ViewsBar<Search extends ListSearch>({
  list,
  search,
  columns = [],
  onSaved,
}: {
  list: ViewedList<Search>;
  search: Search;
  /** Keys of the shown columns, if they can be chosen. */
  columns?: readonly string[];
  /** Called when a view with these columns was saved. */
  onSaved?: () => unknown;
}) {
  const client = useQueryClient();
  const { page, linkTo } = list;
  const { keptOf, filtersOf, searchOf, isSame } = readViews(list);
  const key = ['views', page];
  const { data } = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => get<Page<View>>('/views', { page, limit: 1000 }, signal),
  });
  const [saving, setSaving] = useState(false);
  const views = data?.data ?? [];
  const current = views.find((view) => isSame(view, search));
  const isPlain = keptOf(search).length === 0 && search.columns === undefined;
  const reload = () => client.invalidateQueries({ queryKey: key });
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
            {...linkTo({})}
            className="tab"
            aria-current={isPlain ? 'page' : undefined}
            activeOptions={{ exact: true, includeSearch: true }}
          >
            All
          </Link>
          {views.map((view) => (
            <Link
              key={`${view.owner} ${view.name}`}
              {...linkTo(searchOf(view))}
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
          settings={{ page, query: filtersOf(search), columns }}
          onSaved={async () => {
            await reload();
            await onSaved?.();
          }}
          onClose={() => setSaving(false)}
        />
      )}
    </div>
  );
}

function SaveDialog({
  names,
  settings,
  onSaved,
  onClose,
}: {
  names: readonly string[];
  settings: { page: View['page']; query: Record<string, string>; columns: readonly string[] };
  onSaved: () => Promise<unknown>;
  onClose: () => void;
}) {
  const [name, setName] = useState('');
  const [shared, setShared] = useState(false);
  const mayShare = useMay('write');
  return (
    <FormDialog
      open
      onClose={onClose}
      title="Save as a view"
      description="Saves these filters, this order and these columns as a named tab above the list."
      submitLabel="Save"
      onSubmit={async () => {
        await put<View>(pathOf('views', name.trim()), { ...settings, shared });
        await onSaved();
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
