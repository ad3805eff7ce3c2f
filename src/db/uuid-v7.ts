/**
 * An SQL expression for a new UUIDv7, so that one statement can create many rows with time-ordered ids (PostgreSQL has a function
 * for it from version 18 on, this works from 14 on).
 *
 * It generates a random UUIDv4, writes the milliseconds since 1970 into its first 48 bits and changes its version, 0100, to 0111
 * (RFC 9562, 5.7). Within a millisecond the order is random.
 */
export const UUID_V7 = `encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
  placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid`;
