import { z } from 'zod';
import { Label as LabelName, MovableLabel } from '../../domain/label.ts';
import { PageQuery, pageOf } from '../../http/pagination.ts';

export const ListQuery = z.strictObject(PageQuery);
export const LabelParams = z.object({ label: MovableLabel });

export const SetProtection = z
  .strictObject({
    protected: z.boolean('must be true or false').meta({
      description:
        'Whether only keys with the scope `publish` (or `admin`) may move or remove the label, on any prompt.',
    }),
  })
  .meta({ id: 'SetProtection' });

export const Label = z
  .object({
    label: LabelName,
    protected: z.boolean(),
    prompts: z.int().meta({ description: 'How many prompts have it, archived ones included.' }),
  })
  .meta({ id: 'Label' });

export const LabelPage = pageOf(Label).meta({ id: 'LabelPage' });
