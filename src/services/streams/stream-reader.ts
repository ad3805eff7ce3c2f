import { Readable } from 'node:stream';

/** How much a reader may buffer that its caller has not read yet, in addition to the result of one poll of the database. */
const BUFFER_BYTES = 64 * 1024;

/** The bytes of one stream. It gets more data only while its caller keeps reading. */
export class StreamReader extends Readable {
  readonly #onWanted: () => void;
  readonly #onClosed: () => void;
  #stalledAt: number | undefined;
  #isOver = false;

  /**
   * @param onWanted called when the caller has read everything so far
   * @param onClosed called when it has ended or its caller has disconnected
   */
  constructor(onWanted: () => void, onClosed: () => void) {
    super({ highWaterMark: BUFFER_BYTES });
    this.#onWanted = onWanted;
    this.#onClosed = onClosed;
  }

  /** Whether the caller has read everything so far, so that more can be added. */
  get isReady(): boolean {
    return this.#stalledAt === undefined && !this.#isOver && !this.destroyed;
  }

  /** How long the caller has not read anything. */
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
