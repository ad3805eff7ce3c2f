/** Does one piece of work for a key at a time: whoever asks while it is in flight gets its result. */
export class SingleFlight<T> {
  readonly #inFlight = new Map<string, Promise<T>>();

  run(key: string, work: () => Promise<T>): Promise<T> {
    const running = this.#inFlight.get(key) ?? work().finally(() => this.#inFlight.delete(key));
    this.#inFlight.set(key, running);
    return running;
  }
}
