import type { ErrorDetail } from '../errors.ts';
import { orderFault } from '../prompt-rules/message-order.ts';
import { inputFaults } from '../prompt-rules/prompt-values.ts';
import type { Input, Inputs, PromptContent } from './prompt-content.ts';
import { VALUE_CHECKS } from './variable-types.ts';

const MAX_DETAILS = 20;

/** Faults of the content itself, before it is filled: no provider would accept it, or no run could fill it. */
export function contentFaults(content: PromptContent): ErrorDetail[] {
  return [...messageFaults(content), ...toolFaults(content), ...inputsFaults(content)].slice(0, MAX_DETAILS);
}

function messageFaults({ messages }: PromptContent): ErrorDetail[] {
  // The messages of a run follow the list.
  const fault = messages === null ? undefined : orderFault(messages, false);
  return fault === undefined ? [] : [{ path: `messages.${fault.index}`, message: fault.message }];
}

function toolFaults({ tools, tool_choice: choice }: PromptContent): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  const names = new Set<string>();
  for (const [index, { name, input_schema: schema }] of (tools ?? []).entries()) {
    if (names.has(name))
      details.push({ path: `tools.${index}.name`, message: `is the name of another tool: "${name}"` });
    names.add(name);
    if (schema['type'] !== 'object')
      details.push({
        path: `tools.${index}.input_schema.type`,
        message: 'must be "object": the input of a tool is an object',
      });
  }
  if (choice !== null && typeof choice === 'object' && !names.has(choice.name))
    details.push({ path: 'tool_choice.name', message: `does not name a tool of the prompt: "${choice.name}"` });
  if (choice === 'required' && names.size === 0)
    details.push({ path: 'tool_choice', message: 'is "required", but the prompt has no tools' });
  return details;
}

/** The types that the messages need variables to have. */
function neededTypes({ messages }: PromptContent): Map<string, Set<'messages' | 'file'>> {
  const needed = new Map<string, Set<'messages' | 'file'>>();
  const add = (name: string, type: 'messages' | 'file') => needed.set(name, (needed.get(name) ?? new Set()).add(type));
  for (const entry of messages ?? []) {
    if ('placeholder' in entry) add(entry.placeholder, 'messages');
    else if (typeof entry.content !== 'string')
      for (const part of entry.content)
        if (part.type === 'file' && part.variable !== undefined) add(part.variable, 'file');
  }
  return needed;
}

function inputsFaults(content: PromptContent): ErrorDetail[] {
  const inputs: Inputs = content.inputs ?? {};
  const details: ErrorDetail[] = [];
  for (const [name, types] of neededTypes(content)) {
    if (types.size > 1)
      details.push({
        path: 'messages',
        message: `use the variable "${name}" both as a file and as a list of messages`,
      });
    const declared = Object.hasOwn(inputs, name) ? inputs[name]?.type : undefined;
    const [type] = types;
    if (declared !== undefined && declared !== type)
      details.push({ path: `inputs.${name}.type`, message: `must be "${type}", the type that the messages use` });
  }
  for (const [name, input] of Object.entries(inputs)) {
    if (details.length >= MAX_DETAILS) break;
    details.push(...oneInputFaults(input, `inputs.${name}`));
  }
  return details;
}

function oneInputFaults(input: Input, at: string): ErrorDetail[] {
  const { enum: values, ...free } = input;
  if (values !== undefined && (input.type === 'messages' || input.type === 'file'))
    return [{ path: `${at}.enum`, message: `is not allowed with the type "${input.type}"` }];
  const details: ErrorDetail[] = [];
  for (const [index, value] of (values ?? []).entries())
    details.push(...inputFaults(free, value, `${at}.enum.${index}`, MAX_DETAILS, VALUE_CHECKS));
  if (input.default === null)
    details.push({ path: `${at}.default`, message: 'must not be null: omit it and set "required": false' });
  else if (input.default !== undefined)
    details.push(...inputFaults(input, input.default, `${at}.default`, MAX_DETAILS, VALUE_CHECKS));
  return details.slice(0, MAX_DETAILS);
}
