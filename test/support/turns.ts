/**
 * For tests that run side by side, of which some share what one may use at a time: those take turns, in the order in which they
 * begin.
 * @param after done after each, whether it passed or failed
 */
export function createTurns(
  after: () => Promise<unknown> = async () => {},
): (work: () => Promise<void>) => Promise<void> {
  let last = Promise.resolve();
  return (work) => {
    const begin = () => work().finally(after);
    last = last.then(begin, begin);
    return last;
  };
}
