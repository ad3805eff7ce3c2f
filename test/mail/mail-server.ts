import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

/** A mail as it arrived. */
export interface ReceivedMail {
  to: string[];
  /** Headers and body. */
  content: string;
  overTls: boolean;
  user: string | undefined;
}

/** A real mail server on this machine. */
export interface MailServer {
  /** `host:port` */
  address: string;
  received: ReceivedMail[];
  close(): Promise<void>;
}

/** An error that the mail server answers with. */
export function reply(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}

function certificateFile(name: string): string {
  return readFileSync(new URL(`../outbound/certificates/${name}`, import.meta.url), 'utf8');
}

/** The authority of the certificate `good`. */
export const certificateAuthority = () => certificateFile('ca.pem');

/** For the options of a server that speaks TLS. */
export function certificate(name: 'good' | 'self-signed'): { cert: string; key: string } {
  return { cert: certificateFile(`${name}.pem`), key: certificateFile(`${name}.key`) };
}

/** Without options: no TLS, no login, and every mail is accepted. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    ...('cert' in options ? {} : { disabledCommands: ['STARTTLS'] }),
    closeTimeout: 100,
    onData(stream, session, done) {
      text(stream).then((content) => {
        received.push({
          to: session.envelope.rcptTo.map(({ address }) => address),
          content,
          overTls: session.secure,
          user: session.user === undefined ? undefined : String(session.user),
        });
        done();
      }, done);
    },
    ...options,
  });
  // Ignores the errors of clients that hang up.
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address: AddressInfo | string | null = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('The mail server has no port.');
  return {
    address: `127.0.0.1:${address.port}`,
    received,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
