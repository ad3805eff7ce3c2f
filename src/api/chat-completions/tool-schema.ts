import { z } from 'zod';
import { cacheMark } from '../../domain/prompts/prompt.ts';
import { MAX_TOOLS, Tool, type ToolChoice } from '../../domain/prompts/prompt-content.ts';
import { jsonObject, shortList } from '../../domain/text/json-object.ts';
import { CacheControlField } from './content-schema.ts';

/** The input schema of a tool without parameters. */
const NO_INPUT = { type: 'object', properties: {} };

/** The function fields that both OpenAI formats share. */
export const functionShape = {
  name: Tool.shape.name,
  description: Tool.shape.description.nullable(),
  parameters: jsonObject('must be a JSON schema of type object')
    .refine(({ type }) => type === undefined || type === 'object', 'must be a JSON schema of type object')
    .nullish()
    .meta({
      override: { type: 'object', description: 'A JSON schema of its input.' },
      example: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    }),
  strict: z.boolean('must be true or false').nullish(),
  cache_control: CacheControlField,
};
const FunctionShape = z.object(functionShape);

/** Converts to an internal tool. */
export function toTool({ name, description, parameters, strict, cache_control }: z.output<typeof FunctionShape>): Tool {
  return {
    name,
    ...(typeof description === 'string' && { description }),
    input_schema: { ...NO_INPUT, ...parameters },
    ...(typeof strict === 'boolean' && { strict }),
    ...cacheMark(cache_control),
  };
}

/** Rejects duplicate tool names. @param path path of the name within a tool */
export function uniqueNames(...path: string[]) {
  return ({ value: tools, issues }: z.core.ParsePayload<Tool[]>): void => {
    const names = new Set<string>();
    for (const [index, { name }] of tools.entries()) {
      if (names.has(name))
        issues.push({
          code: 'custom',
          message: `is the name of another tool: "${name}"`,
          path: [index, ...path, 'name'],
          input: tools,
        });
      names.add(name);
    }
  };
}

const FunctionTool = z
  .strictObject({
    type: z.literal('function', 'must be "function": other tools are not supported'),
    function: z.strictObject(functionShape),
    cache_control: CacheControlField,
  })
  .transform(({ function: tool, cache_control }) => ({ ...toTool(tool), ...cacheMark(cache_control) }));

/** Converts tools from OpenAI's format. */
export const Tools = shortList(FunctionTool, 'tools', { max: MAX_TOOLS }).check(uniqueNames('function'));

export const ToolChoiceField = z.union(
  [
    z.enum(['auto', 'none', 'required']),
    z
      .strictObject({ type: z.literal('function'), function: z.strictObject({ name: Tool.shape.name }) })
      .transform(({ function: { name } }): ToolChoice => ({ name })),
  ],
  'must be "auto", "none", "required" or {"type": "function", "function": {"name": "…"}}',
);
