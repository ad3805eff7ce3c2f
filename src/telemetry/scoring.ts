import type { Span } from '@opentelemetry/api';
import type { Score } from '../evaluators/evaluator.ts';
import type { FollowScoring } from '../evaluators/follow.ts';
import { attributesOf, inSpan, markFailed, OUR, tracer } from './spans.ts';

/** https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-events/ */
const EVENT = 'gen_ai.evaluation.result';
/** Explanations of judges have no other length limit. */
const MAX_EXPLANATION = 2_000;

function tellScore(span: Span, name: string, { score, reason, problem }: Score, captureContent: boolean): void {
  span.addEvent(
    EVENT,
    attributesOf({
      'gen_ai.evaluation.name': name,
      // A score of 0 that stands for a failure is not a score of the output.
      'gen_ai.evaluation.score.value': problem === null ? score : undefined,
      // The explanation can quote outputs and expected values.
      'gen_ai.evaluation.explanation': captureContent ? (reason?.slice(0, MAX_EXPLANATION) ?? undefined) : undefined,
      'error.type': problem ?? undefined,
    }),
  );
}

/**
 * A span for each scored output, with an event for each evaluator. Calls to embedding models, judges and scorers are children.
 * @param captureContent whether events contain explanations
 */
export const traceScoring =
  (captureContent: boolean): FollowScoring =>
  ({ workspace, evaluation, example, rule, execution, trace }, work) => {
    const span = tracer.startSpan(
      evaluation !== undefined ? 'run example' : trace === undefined ? 'score execution' : 'score trace',
    );
    if (!span.isRecording()) return inSpan(span, () => work(() => {}));
    span.setAttributes(
      attributesOf({
        [OUR.workspace]: workspace,
        [OUR.evaluation]: evaluation,
        [OUR.example]: example,
        [OUR.rule]: rule,
        [OUR.execution]: execution,
        [OUR.trace]: trace,
      }),
    );
    return inSpan(span, () =>
      work((scores, error) => {
        for (const [name, score] of scores) tellScore(span, name, score, captureContent);
        if (error !== undefined) markFailed(span, error.code);
      }),
    );
  };
