import type { Dataset } from '../../api-types.ts';
import { formatNumber, plural } from '../../format.ts';
import { t } from '../../strings.ts';

/** The size of a dataset before and after adding examples. Existing ones are not counted twice. */
export const additionInWords = ({ examples_total: has }: Pick<Dataset, 'examples_total'>, added: number): string =>
  t(`It has ${plural(has, 'example', 'examples')} and will have at most ${formatNumber(has + added)}.`);
