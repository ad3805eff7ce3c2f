import { queryOptions } from '@tanstack/react-query';
import { get, pathOf } from '../../api.ts';
import type { AnalyzeNumbers, ApproveNumbers, EvaluateNumbers, Moment, Release, ReleaseRunStep } from './types.ts';

const POLL_MS = 3_000;
const POLL_NUMBERS_MS = 10_000;

const LIVE: readonly string[] = ['in_progress', 'paused', 'awaiting_approval', 'baking'];
export const isLive = ({ status }: Pick<Release, 'status'>) => LIVE.includes(status);

export const releaseKey = (id: string) => ['releases', 'one', id] as const;

export const releaseQuery = (id: string) =>
  queryOptions({
    queryKey: releaseKey(id),
    queryFn: ({ signal }) => get<Release>(pathOf('releases', id), undefined, signal),
    refetchInterval: ({ state }) => (state.data && isLive(state.data) ? POLL_MS : false),
  });

/** Both arms over time. */
export const numbersQuery = (release: Release, unit: string) =>
  queryOptions({
    queryKey: ['releases', 'numbers', release.id, unit],
    queryFn: ({ signal }) => get<{ data: Moment[] }>(`${pathOf('releases', release.id)}/numbers`, { unit }, signal),
    refetchInterval: isLive(release) ? POLL_NUMBERS_MS : false,
  });

export const stepsOf = (release: Release) => release.steps as unknown as ReleaseRunStep[];

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

export const analyzeNumbersOf = (numbers: unknown): AnalyzeNumbers | undefined =>
  isRecord(numbers) && Array.isArray(numbers['checks']) ? (numbers as unknown as AnalyzeNumbers) : undefined;

export const evaluateNumbersOf = (numbers: unknown): EvaluateNumbers | undefined =>
  isRecord(numbers) && typeof numbers['evaluation_id'] === 'string' && 'baseline_evaluation_id' in numbers
    ? (numbers as unknown as EvaluateNumbers)
    : undefined;

export const approveNumbersOf = (numbers: unknown): ApproveNumbers | undefined =>
  isRecord(numbers) && 'candidate_version' in numbers ? (numbers as unknown as ApproveNumbers) : undefined;

/** The latest step with checks, with its numbers: the live one, or the last one before it. */
export function lastChecked(release: Release): { index: number; numbers: AnalyzeNumbers } | undefined {
  return stepsOf(release)
    .flatMap(({ numbers }, index) => {
      const found = analyzeNumbersOf(numbers);
      return found === undefined ? [] : [{ index, numbers: found }];
    })
    .at(-1);
}
