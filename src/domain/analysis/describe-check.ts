import { type CheckResult, isOfTraces, scoreOf, withoutTrace } from './check.ts';

type Numbers = Omit<CheckResult, 'note'>;

/**
 * A check's numbers in one sentence, such as "Error rate: 6.1 % in the candidate (508 executions), 2.0 % in stable (4,592
 * executions): +4.1 points (95 % confidence sequence +1.0 to +8.3), allowed up to +0.5 points: failed."
 */
export function describeCheck(numbers: Numbers): string {
  const { candidate, stable, against, difference, verdict, metric } = numbers;
  const { name: ofRuns, value } = namesOf(withoutTrace(metric));
  const name = isOfTraces(metric) ? `${ofRuns} of traces` : ofRuns;
  const counted = (count: number) =>
    `${count.toLocaleString('en')} ${isOfTraces(metric) ? 'trace' : 'execution'}${count === 1 ? '' : 's'}`;
  const known = (estimate: number | null) => (estimate === null ? 'unknown' : value(estimate));
  const compared =
    stable === null
      ? `against ${value(Number(against))}`
      : `${known(stable.estimate)} in stable (${counted(stable.n)})`;
  const seen = `${name}: ${known(candidate.estimate)} in the candidate (${counted(candidate.n)}), ${compared}`;
  if (difference === null) return `${seen}: ${verdict}.`;
  return `${seen}: ${differenceText(numbers, difference)}: ${verdict}.`;
}

function namesOf(metric: string): { name: string; value: (of: number) => string } {
  switch (metric) {
    case 'error_rate':
      return { name: 'Error rate', value: (of) => `${(of * 100).toFixed(1)} %` };
    case 'latency_p95':
      return { name: 'Latency p95', value: (of) => `${Math.round(of).toLocaleString('en')} ms` };
    case 'cost_mean':
      return { name: 'Mean cost', value: (of) => `${of.toPrecision(3)} USD` };
    default:
      return { name: `Score ${scoreOf(metric)}`, value: (of) => of.toFixed(3) };
  }
}

function differenceText({ metric, scale, lower, upper, limit, confidence }: Numbers, difference: number): string {
  const isScore = scoreOf(metric) !== undefined;
  const factor = isScore ? 1 : 100;
  const digits = isScore ? 3 : 1;
  const unit = isScore ? '' : scale === 'relative' ? ' %' : ' points';
  const text = (of: number) => signed(of * factor, digits);
  /** With enough decimals not to be confused with a limit that it is beyond. */
  const bound = (of: number | null) => {
    if (of === null) return 'any';
    const limits = [limit.lower, limit.upper].filter((each) => each !== null);
    for (let more = 0; more < 6; more += 1) {
      const shown = signed(of * factor, digits + more);
      const read = Number(shown.replace('−', '-'));
      if (limits.every((each) => Math.sign(read - each * factor) === Math.sign(of - each))) return shown;
    }
    return signed(of * factor, digits + 6);
  };
  const level = `${Number((confidence * 100).toFixed(2))} %`;
  return `${text(difference)}${unit} (${level} confidence sequence ${bound(lower)} to ${bound(upper)}), allowed ${allowed(limit, text)}${unit}`;
}

function allowed({ lower, upper }: Numbers['limit'], text: (of: number) => string): string {
  if (lower === null) return `up to ${text(upper ?? 0)}`;
  return upper === null ? `from ${text(lower)}` : `${text(lower)} to ${text(upper)}`;
}

function signed(value: number, digits: number): string {
  const text = Math.abs(value).toFixed(digits);
  if (Number(text) === 0) return text;
  return `${value < 0 ? '−' : '+'}${text}`;
}
