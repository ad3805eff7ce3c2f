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
          description: 'Whether the label moves only by releases, unless an `admin` sends `override`.',
        }),
      })
      .nullable()
      .optional()
      .meta({ description: 'The default steps of releases on this label; null removes them.' }),
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
      .meta({ description: 'How the label moves; null if there is no policy.' }),
    prompts: z.int().meta({ description: 'The number of prompts with this label, including archived ones.' }),
  })
  .meta({ id: 'Label' });

export const LabelPage = pageOf(Label).meta({ id: 'LabelPage' });
