/**
 * For concurrent tests that share something exclusive: they take turns, in starting order.
 * @param after runs after each, whether it passed or failed
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
