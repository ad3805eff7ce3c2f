import { describe, expect, test } from '@jest/globals';
import { kindOfAddress, refusalOf } from '../../src/outbound/address-policy.ts';

describe('what an address is for', () => {
  test.each([
    // Public
    ['8.8.8.8', 'public'],
    ['1.1.1.1', 'public'],
    ['172.15.255.255', 'public'],
    ['172.32.0.0', 'public'],
    ['100.63.255.255', 'public'],
    ['100.128.0.0', 'public'],
    ['223.255.255.255', 'public'],
    ['2606:4700:4700::1111', 'public'],
    ['2a00:1450:4001:81b::200e', 'public'],
    // This machine
    ['127.0.0.1', 'loopback'],
    ['127.255.255.255', 'loopback'],
    ['::1', 'loopback'],
    ['0:0:0:0:0:0:0:1', 'loopback'],
    // Private networks
    ['10.0.0.0', 'private'],
    ['10.255.255.255', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['100.64.0.0', 'private'],
    ['100.127.255.255', 'private'],
    ['fc00::1', 'private'],
    ['fdff:ffff::1', 'private'],
    // A network segment, and the addresses that clouds put there and elsewhere
    ['169.254.0.1', 'link-local'],
    ['169.254.169.254', 'link-local'],
    ['169.254.170.2', 'link-local'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['febf::1', 'link-local'],
    ['fd00:ec2::254', 'metadata'],
    ['fd00:ec2::23', 'metadata'],
    ['fd20:ce::254', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['192.0.0.192', 'metadata'],
    ['168.63.129.16', 'metadata'],
    // Unspecified
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['::', 'unspecified'],
    ['255.255.255.255', 'broadcast'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['ff02::1', 'multicast'],
    // Documentation, benchmarks, protocols, the future
    ['192.0.2.1', 'reserved'],
    ['198.51.100.1', 'reserved'],
    ['203.0.113.1', 'reserved'],
    ['198.18.0.1', 'reserved'],
    ['198.19.255.255', 'reserved'],
    ['192.0.0.1', 'reserved'],
    ['192.88.99.1', 'reserved'],
    ['192.31.196.1', 'reserved'],
    ['192.52.193.1', 'reserved'],
    ['192.175.48.1', 'reserved'],
    ['240.0.0.1', 'reserved'],
    ['2001:db8::1', 'reserved'],
    ['3fff::1', 'reserved'],
    ['2001:2::1', 'reserved'],
    ['2001:10::1', 'reserved'],
    ['2001:20::1', 'reserved'],
    ['100::1', 'reserved'],
    ['5f00::1', 'reserved'],
    ['fec0::1', 'reserved'],
    ['4000::1', 'reserved'],
    ['200::1', 'reserved'],
    // IPv6 for IPv4
    ['::ffff:8.8.8.8', 'public'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:7f00:1', 'loopback'],
    ['::ffff:10.0.0.1', 'private'],
    ['::ffff:a9fe:a9fe', 'link-local'],
    ['::ffff:100.100.100.200', 'metadata'],
    ['::127.0.0.1', 'reserved'],
    ['::8.8.8.8', 'reserved'],
    ['::ffff:0:127.0.0.1', 'reserved'],
    ['64:ff9b::8.8.8.8', 'public'],
    ['64:ff9b::127.0.0.1', 'reserved'],
    ['64:ff9b::10.0.0.1', 'reserved'],
    ['64:ff9b::169.254.169.254', 'reserved'],
    ['64:ff9b:1::808:808', 'reserved'],
    ['64:ff9b:1:7f00:0:100::', 'reserved'],
    ['2002:808:808::1', 'public'],
    ['2002:7f00:1::1', 'reserved'],
    ['2002:a9fe:a9fe::', 'reserved'],
    ['2001::1', 'reserved'],
    ['2001:0:808:808::1', 'reserved'],
    // No address
    ['localhost', 'reserved'],
    ['010.0.0.1', 'reserved'],
    ['127.1', 'reserved'],
    ['', 'reserved'],
  ] as const)('%s is %s', (address, kind) => {
    expect(kindOfAddress(address)).toBe(kind);
  });
});

describe('what is refused', () => {
  test.each([
    ['false', 'https:', '8.8.8.8', undefined],
    ['false', 'http:', '8.8.8.8', 'unencrypted'],
    ['false', 'https:', '127.0.0.1', 'loopback'],
    ['false', 'https:', '10.0.0.1', 'private'],
    ['false', 'https:', '100.64.0.1', 'private'],
    ['loopback', 'https:', '8.8.8.8', undefined],
    ['loopback', 'http:', '8.8.8.8', 'unencrypted'],
    ['loopback', 'https:', '::1', undefined],
    ['loopback', 'http:', '::1', undefined],
    ['loopback', 'http:', '::ffff:127.0.0.1', undefined],
    ['loopback', 'https:', '10.0.0.1', 'private'],
    ['loopback', 'http:', '10.0.0.1', 'private'],
    ['true', 'http:', '8.8.8.8', undefined],
    ['true', 'http:', '10.0.0.1', undefined],
    ['true', 'http:', '100.64.0.1', undefined],
    ['true', 'https:', 'fd12::1', undefined],
    ['true', 'http:', '127.0.0.1', undefined],
  ] as const)('%s by %s: %s is %s', (allow, protocol, address, refusal) => {
    expect(refusalOf(address, protocol, allow)).toBe(refusal);
  });

  test.each(['false', 'loopback', 'true'] as const)('%s: some addresses always are', (allow) => {
    const always = [
      '169.254.169.254',
      'fe80::1',
      'fd00:ec2::254',
      '100.100.100.200',
      '192.0.0.192',
      '224.0.0.1',
      'ff02::1',
      '0.0.0.0',
      '::',
      '255.255.255.255',
      '240.0.0.1',
      '192.0.2.1',
      '64:ff9b::10.0.0.1',
      '2001::1',
    ];
    expect(always.filter((address) => refusalOf(address, 'https:', allow) === undefined)).toEqual([]);
  });
});
