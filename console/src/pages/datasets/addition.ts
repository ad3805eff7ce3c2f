import type { Dataset } from '../../api-types.ts';
import { formatNumber, plural } from '../../format.ts';
import { t } from '../../strings.ts';

/** What a dataset has, and will have when examples are added. Those that it has already are not counted twice. */
export const additionInWords = ({ examples_total: has }: Pick<Dataset, 'examples_total'>, added: number): string =>
  t(`It has ${plural(has, 'example', 'examples')} and will have at most ${formatNumber(has + added)}.`);
