import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { oneOf, optional, text, version } from '../../search.ts';
import { shellRoute } from '../../shell/shell-route.tsx';

/** Above the list and each dataset: by itself, the path of a dataset would be that of the list, too. */
export const datasetsFolder = createRoute({ getParentRoute: () => shellRoute, path: '/datasets' });

export const datasetsRoute = createRoute({
  getParentRoute: () => datasetsFolder,
  path: '/',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      q: text(search['q']),
      /** The dialog that is open. */
      dialog: oneOf(search['dialog'], ['new']),
    }),
  component: lazyRouteComponent(() => import('./datasets-page.tsx'), 'DatasetsPage'),
});

/** The name of a dataset may hold slashes: it is all that follows. */
export const datasetRoute = createRoute({
  getParentRoute: () => datasetsFolder,
  path: '$',
  validateSearch: (search: Record<string, unknown>) =>
    optional({
      tab: oneOf(search['tab'], ['versions']),
      /** The version that is shown; default: the latest. */
      version: version(search['version']),
      q: text(search['q']),
      /** The example that is open. */
      example: text(search['example']),
      /** The versions to compare. */
      from: version(search['from']),
      to: version(search['to']),
    }),
  component: lazyRouteComponent(() => import('./dataset-page.tsx'), 'DatasetPage'),
});
