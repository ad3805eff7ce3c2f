/** The services that `npm start` has started. */
export interface Started {
  host: string;
  port: number;
  /** 0 for none. */
  metricsPort: number;
  temporal: {
    /** `host:port` */
    address: string;
    /** Whether it was started here. */
    isEmbedded: boolean;
    /** Undefined if no UI was started here. */
    uiUrl: string | undefined;
  };
  firstKey: {
    file: string;
    /** Undefined if it was created at an earlier start, or by the operator. */
    newText: string | undefined;
  };
}

/** What `npm start` prints when everything is ready: addresses, the first key, and a first prompt to run. */
export function welcomeText({ host, port, metricsPort, temporal, firstKey }: Started): string {
  // A URL needs brackets around an IPv6 address.
  const origin = `http://${host.includes(':') ? `[${host}]` : host}`;
  const base = `${origin}:${port}`;
  const noUi = temporal.isEmbedded ? 'off' : `see the Temporal server at ${temporal.address}`;
  const keptIn = `kept in ${firstKey.file}`;
  const lines = {
    Console: `${base}/console`,
    API: `${base}/v1`,
    Documentation: `${base}/docs`,
    'Temporal UI': temporal.uiUrl ?? noUi,
    'First API key': firstKey.newText === undefined ? keptIn : `${firstKey.newText}  (shown once; ${keptIn})`,
    Metrics: metricsPort === 0 ? 'off' : `${origin}:${metricsPort}/metrics`,
  };
  const width = Math.max(...Object.keys(lines).map((name) => name.length));
  const call = (operation: string, body: string) =>
    `curl -s -w '\\n' ${base}/v1/${operation} -H "Authorization: Bearer $(cat '${firstKey.file}')" -H 'Content-Type: application/json' -d '${body}'`;
  return `
The Prompt Management Service is ready.

${Object.entries(lines)
  .map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)
  .join('\n')}

Create a prompt and run it:

  ${call('prompts', '{"name":"hello","template":"Say hello to {{ name }}.","model":"sandbox/echo"}')}
  ${call('executions', '{"prompt_name":"hello","variables":{"name":"Ada"}}')}

Ctrl-C stops everything.
`;
}
