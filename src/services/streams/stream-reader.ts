import { Readable } from 'node:stream';

/** What a reader may hold that its caller has not taken yet, besides what one look at the database gives. */
const BUFFER_BYTES = 64 * 1024;

/** The bytes of one stream. It is given more only while its caller takes what it has. */
export class StreamReader extends Readable {
  readonly #onWanted: () => void;
  readonly #onClosed: () => void;
  #stalledAt: number | undefined;
  #isOver = false;

  /**
   * @param onWanted the caller has taken what there was
   * @param onClosed it has ended, or its caller has gone away
   */
  constructor(onWanted: () => void, onClosed: () => void) {
    super({ highWaterMark: BUFFER_BYTES });
    this.#onWanted = onWanted;
    this.#onClosed = onClosed;
  }

  /** Whether the caller has taken what there was, so that there may be more. */
  get isReady(): boolean {
    return this.#stalledAt === undefined && !this.#isOver && !this.destroyed;
  }

  /** For how long the caller has taken nothing of what it was given. */
  get stalledMs(): number {
    return this.#stalledAt === undefined ? 0 : performance.now() - this.#stalledAt;
  }

  send(bytes: Buffer): void {
    if (!this.push(bytes)) this.#stalledAt ??= performance.now();
  }

  /** Nothing more follows. */
  finish(): void {
    if (this.#isOver || this.destroyed) return;
    this.#isOver = true;
    this.push(null);
  }

  override _read(): void {
    if (this.#stalledAt === undefined) return;
    this.#stalledAt = undefined;
    this.#onWanted();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#onClosed();
    done(error);
  }
}
