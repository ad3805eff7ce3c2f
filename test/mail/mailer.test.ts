import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { SMTPServerAuthentication, SMTPServerOptions } from 'smtp-server';
import { MailError } from '../../src/mail/mail-error.ts';
import { createMailer, type Mail } from '../../src/mail/mailer.ts';
import { certificate, certificateAuthority, type MailServer, reply, startMailServer } from './mail-server.ts';

const MAIL: Mail = {
  to: 'ada@example.com',
  subject: 'The webhook of „Ada“ was disabled',
  text: 'It has failed.\n\n.\nQUIT\n',
  messageId: 'ntf_01',
};
const PASSWORD = 'p@ss:wörd%';
const LOGIN = `mailuser:${encodeURIComponent(PASSWORD)}`;

// Restored afterwards: it applies to the process, and later test files need the default.
const usualAuthorities = getCACertificates('default');
beforeAll(() => setDefaultCACertificates([...usualAuthorities, certificateAuthority()]));
afterAll(() => setDefaultCACertificates(usualAuthorities));

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function mailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const server = await startMailServer(options);
  closing.push(() => server.close());
  return server;
}

/** A scripted server, which does not always speak SMTP. */
async function rawServer(answer: Parameters<typeof createServer>[1] & {}): Promise<string> {
  const server: Server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('There is no port.');
  return `127.0.0.1:${address.port}`;
}

function mailer(smtpUrl: string, stepTimeoutMs = 5_000) {
  const made = createMailer({ smtpUrl, from: 'Prompts <prompts@example.org>', stepTimeoutMs });
  closing.push(() => made.close());
  return made;
}

/** The error of a mail that is not sent. */
async function refusal(smtpUrl: string, mail: Mail = MAIL, stepTimeoutMs = 5_000): Promise<MailError> {
  const error: unknown = await mailer(smtpUrl, stepTimeoutMs)
    .send(mail)
    .then(
      () => 'it was sent',
      (reason: unknown) => reason,
    );
  if (!(error instanceof MailError)) throw new Error(`That is no MailError: ${String(error)}`);
  for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), Buffer.from(PASSWORD).toString('base64'), 'mailuser'])
    expect(error.message).not.toContain(secret);
  expect(error.cause).toBeUndefined();
  return error;
}

/** Accepts one user with a password. */
const onAuth: SMTPServerOptions['onAuth'] = ({ username, password }: SMTPServerAuthentication, _session, done) =>
  username === 'mailuser' && password === PASSWORD ? done(null, { user: username }) : done(reply(535, 'No.'));

describe('a mail arrives', () => {
  test('at a server without TLS and login', async () => {
    const server = await mailServer();
    await mailer(`smtp://${server.address}`).send(MAIL);
    const [mail] = server.received;
    expect(server.received).toHaveLength(1);
    expect(mail).toMatchObject({ to: ['ada@example.com'], overTls: false, user: undefined });
    for (const line of [
      /^From: Prompts <prompts@example\.org>$/m,
      /^To: ada@example\.com$/m,
      /^Message-ID: <ntf_01@example\.org>$/m,
      /^Auto-Submitted: auto-generated$/m,
      /^Subject: =\?UTF-8\?/m,
      /^It has failed\.$/m,
      /^QUIT$/m,
    ])
      expect(mail?.content.replaceAll('\r', '')).toMatch(line);
  });

  test('after a login', async () => {
    const server = await mailServer({ allowInsecureAuth: true, authOptional: false, onAuth });
    await mailer(`smtp://${LOGIN}@${server.address}`).send(MAIL);
    expect(server.received).toMatchObject([{ user: 'mailuser' }]);
  });

  test('over TLS where the server offers it', async () => {
    const server = await mailServer({ ...certificate('good'), authOptional: false, onAuth });
    await mailer(`smtp://${LOGIN}@${server.address}`).send(MAIL);
    expect(server.received).toMatchObject([{ overTls: true, user: 'mailuser' }]);
  });

  test('over TLS from the start', async () => {
    const server = await mailServer({ ...certificate('good'), secure: true });
    await mailer(`smtps://${server.address}`).send(MAIL);
    expect(server.received).toMatchObject([{ overTls: true }]);
  });
});

describe('nothing is sent', () => {
  test.each(['smtp', 'smtps'])('over %s to a server with an untrusted certificate', async (protocol) => {
    const server = await mailServer({ ...certificate('self-signed'), secure: protocol === 'smtps', onAuth });
    const error = await refusal(`${protocol}://${LOGIN}@${server.address}`);
    expect(error.message).toMatch(/^There is no secure connection to the mail server/);
    expect(error.isRetryable).toBe(true);
    expect(server.received).toEqual([]);
  });

  test('if a password would go to another machine without TLS', async () => {
    let logins = 0;
    const server = await mailServer({
      allowInsecureAuth: true,
      onAuth(_login, _session, done) {
        logins++;
        done(null, { user: 'anyone' });
      },
    });
    // An address of this machine that is not recognized as one.
    const error = await refusal(`smtp://${LOGIN}@${server.address.replace('127.0.0.1', '0.0.0.0')}`);
    expect(error.message).toBe('There is no secure connection to the mail server.');
    expect({ logins, received: server.received }).toEqual({ logins: 0, received: [] });
  });

  test.each([
    ['recipient', { to: 'ada@example.com\r\nRCPT TO:<eve@example.com>' }],
    ['recipient', { to: 'ada@example.com, eve@example.com' }],
    ['recipient', { to: 'Ada <ada@example.com>' }],
    ['recipient', { to: 'ada' }],
    ['subject', { subject: 'Disabled\r\nBcc: eve@example.com' }],
    ['id', { messageId: 'ntf_01>\r\nBcc: eve@example.com' }],
  ])('if the %s could add something to the headers', async (what, part) => {
    const server = await mailServer();
    const error = await refusal(`smtp://${server.address}`, { ...MAIL, ...part });
    expect(error.message).toContain(what);
    expect(error.isRetryable).toBe(false);
    expect(server.received).toEqual([]);
  });
});

describe('a refusal says why, and whether to try again', () => {
  test.each([
    [550, 'no such user', false],
    [451, 'come back later', true],
    [530, 'STARTTLS first', true],
  ])('%i for the recipient', async (code, words, isRetryable) => {
    const server = await mailServer({ onRcptTo: (_address, _session, done) => done(reply(code, words)) });
    const error = await refusal(`smtp://${server.address}`);
    expect(error.message).toMatch(new RegExp(`^The mail server refused the recipient: ${code} .*${words}\\.$`));
    expect(error.isRetryable).toBe(isRetryable);
  });

  test('of the mail itself', async () => {
    const server = await mailServer({
      onData(stream, _session, done) {
        stream.resume().on('end', () => done(reply(554, 'looks like spam')));
      },
    });
    const error = await refusal(`smtp://${server.address}`);
    expect(error.message).toMatch(/^The mail server refused the mail: 554 .*looks like spam\.$/);
    expect(error.isRetryable).toBe(false);
  });

  test('of the login: settings can be fixed', async () => {
    const server = await mailServer({
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) => done(reply(535, `not ${username} with ${password}`)),
    });
    const error = await refusal(`smtp://${LOGIN}@${server.address}`);
    expect(error.message).toBe('The mail server refused the login (535).');
    expect(error.isRetryable).toBe(true);
  });

  test('without echoes of the login or of the address', async () => {
    const server = await mailServer({
      allowInsecureAuth: true,
      onAuth,
      onRcptTo: (_address, _session, done) => done(reply(550, `mailuser (${PASSWORD}) of localhost is unknown`)),
    });
    const { message } = await refusal(`smtp://${LOGIN}@${server.address.replace('127.0.0.1', 'localhost')}`);
    expect(message).toMatch(/: 550 .*\[key\] \(\[key\]\) of \[host\] is unknown\.$/);
  });
});

describe('a failing server is retried', () => {
  test('away', async () => {
    const server = await startMailServer();
    await server.close();
    const error = await refusal(`smtp://${LOGIN}@${server.address}`);
    expect(error.message).toBe('The mail server cannot be reached (ECONNREFUSED).');
    expect(error.isRetryable).toBe(true);
  });

  test('unknown', async () => {
    const error = await refusal(`smtp://${LOGIN}@mail.invalid`);
    expect(error.message).toMatch(/cannot be (looked up|reached)/);
    expect(error.isRetryable).toBe(true);
  });

  test.each([
    ['never greets', ''],
    ['stops in the middle', '220 here\r\n'],
  ])('one that %s', async (_what, greeting) => {
    const address = await rawServer((socket) => {
      closing.push(() => socket.destroy());
      socket.on('error', () => {}).write(greeting);
    });
    const error = await refusal(`smtp://${address}`, MAIL, 300);
    expect(error.message).toBe('The mail server did not respond in time.');
    expect(error.isRetryable).toBe(true);
  });

  test('one that hangs up', async () => {
    const address = await rawServer((socket) => {
      socket.end();
    });
    const error = await refusal(`smtp://${address}`);
    expect(error.message).toBe('The mail server closed the connection.');
    expect(error.isRetryable).toBe(true);
  });
});

test('a message being sent is given up when the mailer closes', async () => {
  let connected = () => {};
  const connection = new Promise<void>((resolve) => {
    connected = resolve;
  });
  const address = await rawServer((socket) => {
    closing.push(() => socket.destroy());
    socket.on('error', () => {});
    connected();
  });
  const sender = createMailer({ smtpUrl: `smtp://${address}`, from: 'prompts@example.org' });
  const sending = sender.send(MAIL);
  await connection;
  sender.close();
  await expect(sending).rejects.toMatchObject({ name: 'MailError', isRetryable: true });
});
