import type { Route } from '../../http/route.ts';
import { type CodeEvaluationDeps, codeEvaluationRoutes } from './code-routes.ts';
import { controlEvaluationRoutes } from './control-routes.ts';
import { type CreateEvaluationDeps, createEvaluationRoute, rescoreEvaluationRoute } from './create-route.ts';
import { estimateEvaluationRoute } from './estimate-route.ts';
import { evaluatorTypesRoute } from './evaluator-types-route.ts';
import { readEvaluationRoutes } from './read-routes.ts';
import { evaluationResultsRoutes } from './results-routes.ts';

/** `/evaluations` and its subpaths, and `/evaluators`. */
export function evaluationRoutes(deps: CreateEvaluationDeps & CodeEvaluationDeps): Route[] {
  return [
    createEvaluationRoute(deps),
    estimateEvaluationRoute(deps),
    rescoreEvaluationRoute(deps),
    ...readEvaluationRoutes(),
    ...evaluationResultsRoutes(),
    ...codeEvaluationRoutes(deps),
    ...controlEvaluationRoutes(deps),
    evaluatorTypesRoute(),
  ];
}
