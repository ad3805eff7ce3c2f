import { z } from 'zod';

/** A rejected mail. The message names neither the mail server nor its credentials. */
export class MailError extends Error {
  /** Whether the same mail may be accepted later. */
  readonly isRetryable: boolean;

  constructor(message: string, isRetryable: boolean) {
    super(message);
    this.name = 'MailError';
    this.isRetryable = isRetryable;
  }
}

/** A Nodemailer error. */
const Failure = z.object({
  code: z.string().optional(),
  /** The Node.js error code, if there was no connection. */
  originalCode: z.string().optional(),
  /** The step that the server rejected, and its reply. */
  command: z.string().optional(),
  response: z.string().optional(),
  responseCode: z.number().optional(),
  permanent: z.boolean().optional(),
});
type Failure = z.infer<typeof Failure>;

const MAX_REPLY_LENGTH = 200;
/** RFC 4954 and RFC 3207, "authentication required" and "STARTTLS first": caused by our settings, which may be corrected. */
const NOT_SET_UP = 530;

/** The server's reply, on one line. */
function replyOf({ response }: Failure, redact: (text: string) => string): string {
  const text = redact((response ?? '').replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim());
  return text === '' ? '' : `: ${text.slice(0, MAX_REPLY_LENGTH).toWellFormed()}`;
}

/**
 * Explains in plain words why a mail was not accepted.
 * @param redact removes secrets from a server's reply
 */
export function toMailError(thrown: unknown, redact: (text: string) => string): MailError {
  const error = Failure.safeParse(thrown).data ?? {};
  const again = (message: string) => new MailError(message, true);
  switch (error.code) {
    case 'EENVELOPE':
    case 'EMESSAGE': {
      const { permanent = true, responseCode } = error;
      const what = error.command === 'RCPT TO' ? 'the recipient' : 'the mail';
      return new MailError(
        `The mail server refused ${what}${replyOf(error, redact)}.`,
        !permanent || responseCode === NOT_SET_UP,
      );
    }
    case 'EAUTH':
      // The reply to a login may repeat the credentials.
      return again(
        error.responseCode === undefined
          ? 'Logging in to the mail server failed.'
          : `The mail server refused the login (${error.responseCode}).`,
      );
    case 'ETIMEDOUT':
      return again('The mail server did not respond in time.');
    case 'EABORT':
      return again('The mail server took too long, or the process was stopped.');
    case 'EDNS':
      return again("The mail server's name cannot be looked up.");
    case 'ETLS':
      return again('There is no secure connection to the mail server.');
    case 'ESOCKET':
      return again(
        /^(ERR_TLS|ERR_SSL|CERT|UNABLE|DEPTH|SELF_SIGNED|HOSTNAME)/.test(error.originalCode ?? '')
          ? `There is no secure connection to the mail server (${error.originalCode}).`
          : `The mail server cannot be reached (${error.originalCode ?? 'no connection'}).`,
      );
    case 'ECONNECTION':
      return again(`The mail server closed the connection${replyOf(error, redact)}.`);
    default:
      return again(`The mail server did not accept the mail (${error.code ?? 'for an unknown reason'}).`);
  }
}
