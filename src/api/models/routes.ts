import { z } from 'zod';
import { ApiError } from '../../domain/errors.ts';
import { publicId } from '../../domain/ids.ts';
import { FixedText } from '../../http/compression.ts';
import { PromptReference } from '../../http/fields.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { listModels } from '../../services/prompts/prompt-names.ts';
import { getPrompt } from '../../services/prompts/prompts.ts';
import { openAiErrors } from '../chat-completions/errors.ts';

/** Clients of OpenAI's format do not page through models. */
const MAX_MODELS = 10_000;
/** Maximum size of the whole list as JSON. */
const MAX_LIST_BYTES = 3_000_000;

const tag = "OpenAI's format";

const Model = z
  .object({
    id: z.string().meta({ description: 'The name of a prompt.', example: 'support/greeting' }),
    object: z.literal('model'),
    created: z.int().meta({ description: 'Seconds since 1970.' }),
    owned_by: z.string().meta({ description: 'The workspace.' }),
  })
  .meta({ id: 'Model' });

const ModelList = z.object({ object: z.literal('list'), data: z.array(Model) }).meta({ id: 'ModelList' });
const ModelParams = z.object({ name: PromptReference });

const modelSample = {
  id: 'support/greeting',
  object: 'model',
  created: 1_769_860_800,
  owned_by: 'ws_0198f0aa-7e5c-7c3a-9d55-0c9f6f1f2a11',
};

function presentModel(id: string, createdAt: Date, workspaceId: string): z.input<typeof Model> {
  return {
    id,
    object: 'model',
    created: Math.floor(createdAt.getTime() / 1000),
    owned_by: publicId('workspace', workspaceId),
  };
}

/** `/models`: prompts, listed as models in OpenAI's format. */
export function modelRoutes(): Route[] {
  return [
    defineRoute({
      method: 'get',
      path: '/models',
      operationId: 'listModels',
      tag,
      summary: 'List prompts as models, by name',
      description: `The values allowed for \`model\` in \`POST /chat/completions\`: the first ${MAX_MODELS} prompts that are not archived. \`GET /prompts\` lists all.`,
      scope: 'read',
      response: ModelList,
      responseExample: { object: 'list', data: [modelSample] },
      errorFormat: openAiErrors,
      async handler(request) {
        const { db } = request;
        await request.reserve(MAX_LIST_BYTES);
        const models = await listModels(db.heavy.query, MAX_MODELS, publicId('workspace', db.workspaceId));
        return new FixedText(`{"object":"list","data":${models}}`);
      },
    }),
    defineRoute({
      method: 'get',
      path: '/models/{name}',
      operationId: 'getModel',
      tag,
      summary: 'Retrieve a prompt as a model',
      description: 'The prompt `name`, or its version `name@3` or `name@label`.',
      scope: 'read',
      params: ModelParams,
      response: Model,
      responseExample: modelSample,
      errors: ['prompt_archived'],
      errorFormat: openAiErrors,
      async handler({ db, params: { name: reference } }) {
        const { promptName, version, label } = reference;
        const prompt = await getPrompt(db.query, promptName, { version, label });
        if (prompt.archived_at !== null)
          throw new ApiError('prompt_archived', `The prompt "${prompt.name}" is archived. Restore it to run it.`);
        const selector = version ?? label;
        const id = selector === undefined ? promptName : `${promptName}@${selector}`;
        return presentModel(id, prompt.created_at, db.workspaceId);
      },
    }),
  ];
}
