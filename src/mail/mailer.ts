import { isIP } from 'node:net';
import { createTransport } from 'nodemailer';
import { createRedactor } from '../lib/redact.ts';
import { refuseInTransaction } from '../lib/transaction-scope.ts';
import { MailError, toMailError } from './mail-error.ts';

/** Time limit of a whole conversation with the mail server. */
const TOTAL_TIMEOUT_MS = 45_000;

/** A plain text mail to one person. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
  /** The part of the Message-ID before the `@` (RFC 5322). The same for the same mail, so that duplicates can be dropped. */
  messageId: string;
}

/** Sends mails through one mail server. */
export interface Mailer {
  /** @throws MailError with a plain reason and `isRetryable` */
  send(mail: Mail): Promise<void>;
  /** Aborts mails in progress. */
  close(): void;
}

const ADDRESS = /^[^\s\p{Cc}<>@,;:"()[\]\\]+@[^\s\p{Cc}<>@,;:"()[\]\\]+$/u;
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** Rejects values that would inject headers. */
function check({ to, subject, messageId }: Mail): void {
  if (!ADDRESS.test(to)) throw new MailError('The address of the recipient is not an e-mail address.', false);
  if (CONTROL.test(subject)) throw new MailError('The subject has a line break or another control character.', false);
  if (!/^[\w.-]+$/.test(messageId))
    throw new MailError('The id of the mail has a character that is not allowed.', false);
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** An unencoded `%` in a password is literal. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The supported parts of `SMTP_URL`; the others have no effect. */
function parseSmtpUrl(smtpUrl: string) {
  const url = new URL(smtpUrl);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const secure = url.protocol === 'smtps:';
  const user = decode(url.username);
  const pass = decode(url.password);
  const auth = user === '' && pass === '' ? undefined : { user, pass };
  return { host, port: url.port === '' ? undefined : Number(url.port), secure, auth };
}

/**
 * @param smtpUrl `smtps://` uses TLS from the start, `smtp://` if the server offers it (STARTTLS). A password is sent to another
 * machine only over TLS.
 * @param from the sender, as `name@host` or `Name <name@host>`
 * @param stepTimeoutMs for each step of a conversation with the mail server; default 10 s
 */
export function createMailer({
  smtpUrl,
  from,
  stepTimeoutMs = 10_000,
}: {
  smtpUrl: string;
  from: string;
  stepTimeoutMs?: number;
}): Mailer {
  const { host, port, secure, auth } = parseSmtpUrl(smtpUrl);
  const transport = createTransport({
    host,
    port,
    secure,
    auth,
    requireTLS: auth !== undefined && !secure && !isLoopback(host),
    connectionTimeout: stepTimeoutMs,
    greetingTimeout: stepTimeoutMs,
    socketTimeout: stepTimeoutMs,
    dnsTimeout: stepTimeoutMs,
    socketCloseTimeout: 0,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const secrets = auth === undefined ? [] : [auth.user, auth.pass];
  const redact = createRedactor(
    [...secrets, ...secrets.map((text) => Buffer.from(text).toString('base64'))],
    [smtpUrl],
  );
  const domain = /@([^\s@<>]+)>?\s*$/.exec(from)?.[1] ?? 'localhost';
  const closing = new AbortController();
  return {
    async send(mail) {
      refuseInTransaction('The mail server');
      check(mail);
      try {
        await transport.sendMail({
          from,
          to: { name: '', address: mail.to },
          subject: mail.subject,
          text: mail.text,
          messageId: `<${mail.messageId}@${domain}>`,
          // RFC 3834: prevents automatic replies.
          headers: { 'Auto-Submitted': 'auto-generated' },
          signal: AbortSignal.any([closing.signal, AbortSignal.timeout(TOTAL_TIMEOUT_MS)]),
        });
      } catch (error) {
        throw toMailError(error, redact);
      }
    },
    close() {
      closing.abort();
      transport.close();
    },
  };
}
