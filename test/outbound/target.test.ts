import { describe, expect, test } from '@jest/globals';
import { type AllowPrivate, targetProblem } from '../../src/outbound/target.ts';

const LEVELS: AllowPrivate[] = ['false', 'loopback', 'true'];

describe('an address of the internet by https', () => {
  test.each([
    'https://example.com',
    'https://example.com/hooks/1?token=x',
    'https://example.com:8443/',
    'https://8.8.8.8/',
    'https://[2606:4700:4700::1111]/',
    'https://bücher.example/',
    'https://localhost.example.com/',
  ])('%s is fine', (url) => {
    expect(LEVELS.map((allow) => targetProblem(url, allow))).toEqual([undefined, undefined, undefined]);
  });
});

describe('this machine, however it is written', () => {
  const forms = [
    'localhost',
    'LOCALHOST',
    'localhost.',
    'receiver.localhost',
    '127.0.0.1',
    '127.0.0.1.',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.0x0.0x0.0x1',
    '0177.0.0.1',
    '017700000001',
    '%31%32%37.0.0.1',
    '１２７.０.０.１',
    '127。0。0。1',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
  ];
  test.each(forms)('%s', (host) => {
    expect(targetProblem(`https://${host}/`, 'false')).toMatch(/^the address \S+ is not allowed \(loopback\): /);
    expect(targetProblem(`http://${host}/`, 'false')).toMatch(/\(loopback\)/);
    for (const allow of ['loopback', 'true'] as const) {
      expect(targetProblem(`http://${host}:3000/`, allow)).toBeUndefined();
      expect(targetProblem(`https://${host}:3000/`, allow)).toBeUndefined();
    }
  });
});

describe('plain http', () => {
  test.each([
    ['http://example.com/', 'the address must begin with https://: http:// is for localhost only'],
    ['http://8.8.8.8/', 'the address must begin with https://: http:// is for localhost only'],
    ['http://localhost.example.com/', 'the address must begin with https://: http:// is for localhost only'],
    [
      'http://10.0.0.1/',
      'the address 10.0.0.1 is not allowed (private): use an address that is reachable from the internet',
    ],
  ])('if only this machine is allowed: %s', (url, problem) => {
    expect(targetProblem(url, 'loopback')).toBe(problem);
  });

  test('is refused if only public addresses are allowed, and allowed if all are', () => {
    expect(targetProblem('http://example.com/', 'false')).toBe('the address must begin with https://');
    expect(targetProblem('http://8.8.8.8/', 'false')).toBe('the address must begin with https://');
    expect(targetProblem('http://example.com/', 'true')).toBeUndefined();
    expect(targetProblem('http://10.0.0.1/', 'true')).toBeUndefined();
  });
});

describe.each(LEVELS)('whatever is allowed (%s)', (allow) => {
  test.each([
    ['', 'the address is not a valid URL: write it as https://host/path'],
    ['example.com/hook', 'the address is not a valid URL: write it as https://host/path'],
    ['https://', 'the address is not a valid URL: write it as https://host/path'],
    ['https://256.0.0.1/', 'the address is not a valid URL: write it as https://host/path'],
    ['https://example.com:65536/', 'the address is not a valid URL: write it as https://host/path'],
    ['ftp://example.com/', 'the address must begin with https://'],
    ['file:///etc/passwd', 'the address must begin with https://'],
    ['javascript:alert(1)', 'the address must begin with https://'],
    ['https://user@example.com/', 'the address must not contain a user name or password: remove the part before the @'],
    [
      'https://:pass@example.com/',
      'the address must not contain a user name or password: remove the part before the @',
    ],
    ['https://example.com/#part', 'the address must not have a fragment: remove the part from # on'],
    ['https://example.com/#', 'the address must not have a fragment: remove the part from # on'],
  ])('%s: %s', (url, problem) => {
    expect(targetProblem(url, allow)).toBe(problem);
  });

  test.each([
    'https://169.254.169.254/latest/meta-data',
    'https://2852039166/',
    'https://0xa9fea9fe/',
    'https://[::ffff:a9fe:a9fe]/',
    'https://[fd00:ec2::254]/',
    'https://100.100.100.200/',
    'https://192.0.0.192/',
    'https://0.0.0.0/',
    'https://0/',
    'https://[::]/',
    'https://[fe80::1]/',
    'https://[ff02::1]/',
    'https://[::127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[2001::1]/',
    'https://255.255.255.255/',
    'https://224.0.0.1/',
    'https://192.0.2.1/',
  ])('%s is refused', (url) => {
    expect(targetProblem(url, allow)).toMatch(/ is not allowed \([a-z-]+\): /);
  });

  test('the length is limited, as given and as sent', () => {
    const longest = `https://example.com/${'x'.repeat(2028)}`;
    expect(longest).toHaveLength(2048);
    expect(targetProblem(longest, allow)).toBeUndefined();
    expect(targetProblem(`${longest}x`, allow)).toBe('the address is longer than 2048 characters: shorten it');
    expect(targetProblem(`https://example.com/${'ä'.repeat(500)}`, allow)).toContain('longer than 2048');
  });

  test('the ports of other protocols are refused', () => {
    // https://fetch.spec.whatwg.org/#port-blocking
    const bad = `0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117
      119 123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990
      993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080`;
    for (const port of bad.split(/\s+/)) {
      expect(targetProblem(`https://example.com:${port}/`, allow)).toBe(
        `the port ${port} is not allowed: it belongs to another protocol`,
      );
    }
    for (const port of [80, 443, 3000, 5432, 8080, 8443, 65535]) {
      expect(targetProblem(`https://example.com:${port}/`, allow)).toBeUndefined();
    }
  });
});

test('errors are reported without path and query', () => {
  for (const url of ['http://example.com/secret?secret', 'https://u:secret@10.0.0.1/', 'https://10.0.0.1:22/secret'])
    expect(targetProblem(url, 'false')).not.toContain('secret');
});
