import { type ApiPromise, type CallOptions, operationOf } from './call.ts';
import { OPERATIONS, type Operations } from './generated/operations.gen.ts';
import type { Resources as Generated } from './generated/resources.gen.ts';
import type { OwnMethods } from './own-methods.ts';
import { List, type Page } from './pages.ts';
import type { Prompts } from './prompts/prompts.ts';

type Own = OwnMethods & { prompts: Prompts };

/** The methods of a client by resource: one for each operation, and additional ones. */
export type Resources = Omit<Generated, keyof Own> & {
  readonly [Name in keyof Own]: Generated[Name] & Own[Name];
};

/** Calls an operation. */
type Call = (operation: keyof Operations, request: AnyRequest, options?: CallOptions) => ApiPromise<unknown>;

interface AnyRequest {
  path?: Record<string, unknown>;
  body?: unknown;
  query?: Record<string, unknown> | undefined;
}

type Method = (...args: unknown[]) => unknown;

/** The method of an operation. Its arguments are the path parameters, body, query and options, as far as it has them. */
function methodOf(operation: keyof Operations, call: Call): Method {
  const { path, has } = operationOf(operation);
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return (...args) => {
    const rest = args.slice(names.length);
    const request: AnyRequest = { path: Object.fromEntries(names.map((name, index) => [name, args[index]])) };
    if (has('b')) request.body = rest.shift();
    const query = has('q') ? (rest.shift() as Record<string, unknown> | undefined) : undefined;
    const options = rest[0] as CallOptions | undefined;
    if (!has('l')) return call(operation, { ...request, query }, options);
    const read = (cursor: string | undefined) => call(operation, { ...request, query: { ...query, cursor } }, options);
    return new List(read as (cursor: string | undefined) => ApiPromise<Page<unknown>>, query?.['cursor'] as string);
  };
}

/** All methods, by resource. */
function methodsOf(call: Call): Record<string, object> {
  const all: Record<string, Record<string, Method> | Method> = {};
  for (const id of Object.keys(OPERATIONS) as (keyof Operations)[]) {
    const { name, has } = operationOf(id);
    const [resource = '', method] = name.split('.');
    if (has('h')) continue;
    if (method === undefined) all[resource] = methodOf(id, call);
    else all[resource] = { ...(all[resource] as Record<string, Method>), [method]: methodOf(id, call) };
  }
  return all;
}

/**
 * The resources of a client.
 * @param own adds methods to some of them
 */
export function resourcesOf(call: Call, own: (made: Generated) => Own): Resources {
  // The table of operations is generated from the same document as their types.
  const made = methodsOf(call) as unknown as Generated;
  const all: Record<string, unknown> = { ...made };
  for (const [name, methods] of Object.entries(own(made)))
    all[name] = Object.assign(methods, made[name as keyof Generated]);
  return all as unknown as Resources;
}
