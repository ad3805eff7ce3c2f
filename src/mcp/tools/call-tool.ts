import type { CallToolResult, Tool } from '@modelcontextprotocol/server';
import { ApiError } from '../../domain/errors.ts';
import { allows } from '../../domain/scopes.ts';
import { isObject, type JsonValue } from '../../domain/text/json.ts';
import { errorBody, toApiError } from '../../http/middleware/error-responses.ts';
import { type Route, scopesOf } from '../../http/route.ts';
import { isList } from '../../http/run-route.ts';
import type { AuthenticatedKey } from '../../services/access/authenticate.ts';
import type { McpCall } from '../mcp-call.ts';
import { bytesOf, type Fitted, MAX_RESULT_BYTES, namedCuts, pieceOf, shortenToFit, valueAt } from '../results/fit.ts';
import type { JsonObject, ToolSpec } from './tool.ts';
import { type RoutedInput, type ToolInput, toolInput } from './tool-input.ts';

/** Room for a result without its notes. */
const ROOM = MAX_RESULT_BYTES - 2 * 1024;

/** A tool with its operation. */
export interface BoundTool {
  spec: ToolSpec;
  route: Route;
  input: ToolInput;
  /** As shown in `tools/list`. */
  shown: Tool;
}

/** All tools by name. Built once because their schemas take time. */
export function bindTools(
  specs: readonly ToolSpec[],
  routes: ReadonlyMap<string, Route>,
): ReadonlyMap<string, BoundTool> {
  return new Map(
    specs.map((spec) => {
      const route = routes.get(spec.operation);
      if (route === undefined) throw new Error(`There is no operation ${spec.operation}.`);
      const input = toolInput(spec, route);
      const { readOnly, destructive, idempotent, openWorld } = spec.hints;
      const shown = {
        name: spec.name,
        title: spec.title,
        description: spec.description,
        inputSchema: input.schema,
        annotations: {
          title: spec.title,
          readOnlyHint: readOnly,
          destructiveHint: destructive,
          idempotentHint: idempotent,
          openWorldHint: openWorld,
        },
      };
      return [spec.name, { spec, route, input, shown }];
    }),
  );
}

/** Whether a key's scopes allow using a tool. */
export const mayUse = ({ scopes }: AuthenticatedKey, { route }: BoundTool): boolean =>
  allows(scopes, ...scopesOf(route)) && (route.alsoScope === undefined || allows(scopes, route.alsoScope));

/** Runs a tool. A failure is a result, too, so that the model can react. */
export async function callTool(
  { spec, route, input }: BoundTool,
  given: JsonObject,
  call: McpCall,
  logFault: (error: ApiError) => void,
): Promise<CallToolResult> {
  try {
    const routed = input.route(given);
    const { part } = routed;
    if (part !== undefined) return resultOf({ ...pieceIn(await call.run(route.operationId, routed), part) });
    const { value, cuts, whole } = await readFitting(route, routed, call);
    const named = namedCuts(cuts);
    const next = isObject(whole) && spec.next?.(whole);
    const note = [named && noteOn(spec, route), next].filter(Boolean).join(' ');
    return resultOf({ result: value, ...named, ...(note !== '' && { note }) });
  } catch (thrown) {
    const error = toApiError(thrown);
    logFault(error);
    return { isError: true, ...contentOf(errorBody(error)) };
  }
}

function noteOn({ hints }: ToolSpec, { method }: Route): string {
  return hints.readOnly && method === 'get'
    ? 'Too long to be shown in full. Call again with part (one of those in cut) and part_from (what was shown of it) for the rest of it.'
    : 'Too long to be shown in full.';
}

/**
 * A page that is too large is read again with fewer records, so that its cursor continues with the rest; a single record is
 * shortened.
 */
async function readFitting(route: Route, routed: RoutedInput, call: McpCall): Promise<Fitted & { whole: JsonValue }> {
  for (let limit = Number(routed.query['limit']); ; limit = Math.floor(limit / 4)) {
    const query = isList(route) ? { ...routed.query, limit: String(limit) } : routed.query;
    const whole = await call.run(route.operationId, { ...routed, query });
    const shortened = isList(route) && limit > 1 && bytesOf(whole) > 4 * ROOM ? undefined : shortenToFit(whole, ROOM);
    if (shortened !== undefined) return { ...shortened, whole };
    if (!isList(route) || limit <= 1)
      return { value: null, cuts: [{ part: '', shown: 0, of: 1, unit: 'fields' }], whole };
  }
}

function pieceIn(whole: JsonValue, { pointer, from }: NonNullable<RoutedInput['part']>) {
  const value = valueAt(whole, pointer);
  const piece = value === undefined ? undefined : pieceOf(pointer, value, from, ROOM);
  if (piece !== undefined) return piece;
  throw new ApiError('invalid_request', 'part: does not name a string, list or object of the result', {
    details: [{ path: 'part', message: 'names no text, list or object of the result' }],
  });
}

/** @param content for clients that read structured results, and as text for others */
function contentOf(content: object): Pick<CallToolResult, 'content' | 'structuredContent'> {
  return {
    content: [{ type: 'text', text: JSON.stringify(content) }],
    structuredContent: { ...content },
  };
}

const resultOf = (content: object): CallToolResult => contentOf(content);
