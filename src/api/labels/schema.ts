import { z } from 'zod';
import { Label as LabelName, MovableLabel } from '../../domain/prompts/label.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';
import { ReleaseSteps } from '../releases/steps-schema.ts';

export const ListQuery = z.strictObject(PageQuery);
export const LabelParams = z.object({ label: MovableLabel });

export const SetProtection = z
  .strictObject({
    protected: z.boolean('must be true or false').optional().meta({
      description:
        'Whether only keys with the scope `publish` (or `admin`) may move or remove the label, on any prompt.',
    }),
    release: z
      .strictObject({
        steps: ReleaseSteps,
        required: z.boolean('must be true or false').default(false).meta({
          description: 'Whether the label moves by releases alone, save with `override` by an `admin`.',
        }),
      })
      .nullable()
      .optional()
      .meta({ description: 'The steps of releases that give none; null takes them away.' }),
  })
  .refine((changes) => Object.keys(changes).length > 0, {
    error: 'Give at least one of protected and release.',
    when: ({ issues }) => issues.length === 0,
  })
  .meta({ id: 'SetProtection' });

export const Label = z
  .object({
    label: LabelName,
    protected: z.boolean(),
    release: z
      .object({ steps: z.array(z.looseObject({ type: z.string() })), required: z.boolean() })
      .nullable()
      .meta({ description: 'How it moves; null: there is no policy.' }),
    prompts: z.int().meta({ description: 'How many prompts have it, archived ones included.' }),
  })
  .meta({ id: 'Label' });

export const LabelPage = pageOf(Label).meta({ id: 'LabelPage' });
