import { createServer, type ServerResponse } from 'node:http';

/** A model on 127.0.0.1 that streams words in OpenAI's format, one by one, controlled by a test. */
export interface WordModel {
  /** In the form that the provider's SDK expects. */
  baseUrl: string;
  calls: WordCall[];
  close(): Promise<void>;
}

/** One call of it. */
export interface WordCall {
  say(word: string): void;
  /** Ends the response. */
  finish(): void;
  /** Whether the caller has hung up. */
  isGone(): boolean;
}

const chunk = (content: object) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini', ...content })}\n\n`;

const choice = (delta: object, finishReason: string | null = null) =>
  chunk({ choices: [{ index: 0, delta, finish_reason: finishReason }] });

function callOn(res: ServerResponse): WordCall {
  let words = 0;
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.write(choice({ role: 'assistant', content: '' }));
  return {
    say(word) {
      words += 1;
      res.write(choice({ content: word }));
    },
    finish() {
      res.write(choice({}, 'stop'));
      res.write(chunk({ choices: [], usage: { prompt_tokens: 1, completion_tokens: words, total_tokens: 1 + words } }));
      res.end('data: [DONE]\n\n');
    },
    isGone: () => res.destroyed,
  };
}

/** @param onCall called for each incoming call */
export async function startWordModel(onCall: (call: WordCall) => void = () => {}): Promise<WordModel> {
  const calls: WordCall[] = [];
  const server = createServer((req, res) => {
    req.resume();
    req.once('end', () => {
      const call = callOn(res);
      calls.push(call);
      onCall(call);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    calls,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
