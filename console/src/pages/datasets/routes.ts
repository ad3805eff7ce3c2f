import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { oneOf, optional, text, version } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

/** Parent of the list and each dataset: otherwise the path of a dataset would also match the list. */
export const datasetsFolder = createRoute({ getParentRoute: () => shellRoute, path: '/datasets' });

export const datasetsRoute = createRoute({
  getParentRoute: () => datasetsFolder,
  path: '/',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      q: text(search['q']),
      /** The open dialog. */
      dialog: oneOf(search['dialog'], ['new']),
    }),
  component: lazyRouteComponent(() => import('./datasets-page.tsx'), 'DatasetsPage'),
});

/** The name of a dataset can contain slashes, so it is the rest of the path. */
export const datasetRoute = createRoute({
  getParentRoute: () => datasetsFolder,
  path: '$',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      tab: oneOf(search['tab'], ['versions']),
      /** The displayed version; default: the latest. */
      version: version(search['version']),
      q: text(search['q']),
      /** The open example. */
      example: text(search['example']),
      /** The versions to compare. */
      from: version(search['from']),
      to: version(search['to']),
    }),
  component: lazyRouteComponent(() => import('./dataset-page.tsx'), 'DatasetPage'),
});
