import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { bindWorkspace, type Database, openDatabase, type Query } from '../../src/db/database.ts';
import { entities } from '../../src/db/entities/index.ts';
import { selectPage } from '../../src/db/read-page.ts';
import { now, unnestOf } from '../../src/db/sql.ts';
import { asJson, type Builder, type BuiltStatement, prepared } from '../../src/db/statement.ts';
import { UnboundStatementError } from '../../src/db/statement-sources.ts';
import { OWNERSHIP } from '../../src/db/tables.ts';
import { newId } from '../../src/domain/ids.ts';
import { createTestDatabase } from '../support/database.ts';

type Build = (db: Builder) => BuiltStatement<unknown>;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;
const [mine, theirs] = [newId(), newId()];
const [myPrompt, theirPrompt] = [newId(), newId()];
const [myDelivery, theirDelivery] = [newId(), newId()];

const labels = () =>
  db.system.query((all) =>
    all.selectFrom('prompt_labels').select(['prompt_id', 'label', 'version']).orderBy('prompt_id'),
  );

/** Two workspaces with the same rows: a prompt of two versions with a label, and a delivery with an attempt. */
async function fill(query: Query, prompt: string, delivery: string): Promise<void> {
  const times = { created_at: now, updated_at: now };
  await query((own) =>
    own.insertInto('prompts').values({ id: prompt, name: 'greeting', description: null, latest_version: 2, ...times }),
  );
  const version = { prompt_id: prompt, model: 'sandbox/echo', variables: [], commit_message: null, created_at: now };
  await query((own) =>
    own.insertInto('prompt_versions').values([
      { ...version, id: newId(), version: 1, template: 'one', parameters: asJson({ temperature: 1 }) },
      { ...version, id: newId(), version: 2, template: 'two', parameters: asJson({}) },
    ]),
  );
  await query((own) =>
    own
      .insertInto('prompt_labels')
      .values({ id: newId(), prompt_id: prompt, label: 'live', version: 1, updated_at: now }),
  );
  await query((own) =>
    own.insertInto('deliveries').values({
      id: delivery,
      event_id: newId(),
      webhook_id: newId(),
      trigger: 'event',
      status: 'queued',
      created_at: now,
    }),
  );
}

beforeAll(async () => {
  database = await createTestDatabase();
  db = await openDatabase(database.url, { poolSize: 5 });
  await fill(db.workspace(mine).query, myPrompt, myDelivery);
  await fill(bindWorkspace(db.system.query, theirs), theirPrompt, theirDelivery);
  for (const delivery_id of [myDelivery, theirDelivery])
    await db.system.query((all) =>
      all.insertInto('delivery_attempts').values({ delivery_id, attempt: 1, started_at: now, duration_ms: 5 }),
    );
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

test('rows have the types of the entities', async () => {
  const [row] = await db.workspace(mine).query((own) => own.selectFrom('deliveries').selectAll());
  const created: Date | undefined = row?.created_at;
  expect(created).toBeInstanceOf(Date);
  // @ts-expect-error: there is no such column
  expect(row?.createdAt).toBeUndefined();
  // @ts-expect-error: there is no such state
  await db.workspace(mine).query((own) => own.selectFrom('deliveries').select('id').where('status', '=', 'lost'));
  const [none] = await db.workspace(mine).query((own) => own.deleteFrom('deliveries').where('id', '=', newId()));
  // @ts-expect-error: a statement without RETURNING has no rows
  expect(none?.numDeletedRows).toBeUndefined();
});

describe('a workspace sees only its own rows', () => {
  const shapes: Record<string, [build: Build, rows: unknown[]]> = {
    select: [(own) => own.selectFrom('prompts').select('id'), [{ id: '$prompt' }]],
    'select with an alias and an OR in raw SQL': [
      (own) => own.selectFrom('prompts as p').select('p.id').where(sql<boolean>`false or true`),
      [{ id: '$prompt' }],
    ],
    'select from two tables': [
      (own) => own.selectFrom(['prompts as p', 'prompt_labels as l']).select(['p.id', 'l.label']),
      [{ id: '$prompt', label: 'live' }],
    ],
    'inner join': [
      (own) =>
        own
          .selectFrom('prompts as p')
          .innerJoin('prompt_versions as v', (join) => join.on(sql<boolean>`true or true`))
          .select(['p.id', 'v.version'])
          .orderBy('v.version'),
      [
        { id: '$prompt', version: 1 },
        { id: '$prompt', version: 2 },
      ],
    ],
    'left join': [
      (own) =>
        own
          .selectFrom('prompts as p')
          .leftJoin('prompt_labels as l', (join) => join.onTrue().on('l.label', '=', 'none'))
          .select(['p.id', 'l.label']),
      [{ id: '$prompt', label: null }],
    ],
    'cross join': [
      (own) => own.selectFrom('prompts as p').crossJoin('prompt_labels as l').select('l.prompt_id'),
      [{ prompt_id: '$prompt' }],
    ],
    'lateral join': [
      (own) =>
        own
          .selectFrom('prompts as p')
          .innerJoinLateral(
            (eb) => eb.selectFrom('prompt_labels as l').select('l.prompt_id').as('found'),
            (join) => join.onTrue(),
          )
          .select('found.prompt_id'),
      [{ prompt_id: '$prompt' }],
    ],
    CTE: [
      (own) =>
        own
          .with('found', (cte) => cte.selectFrom('prompts').select('id'))
          .selectFrom('found')
          .selectAll(),
      [{ id: '$prompt' }],
    ],
    'CTE that changes rows': [
      (own) =>
        own
          .with('changed', (cte) => cte.updateTable('prompts').set({ description: 'new' }).returning('id'))
          .selectFrom('changed')
          .selectAll(),
      [{ id: '$prompt' }],
    ],
    subquery: [
      (own) => own.selectNoFrom((eb) => eb.selectFrom('prompts').select(eb.fn.countAll<number>().as('n')).as('count')),
      [{ count: 1 }],
    ],
    'subquery in raw SQL': [
      (own) =>
        own.selectNoFrom(
          sql<number>`(select count(*) from ${own.selectFrom('prompts').select('id')} as x)`.as('count'),
        ),
      [{ count: 1 }],
    ],
    union: [
      (own) => own.selectFrom('prompts').select('id').unionAll(own.selectFrom('prompts').select('id')),
      [{ id: '$prompt' }, { id: '$prompt' }],
    ],
    'a child joined to its parent': [
      (own) =>
        own
          .selectFrom('delivery_attempts as a')
          .innerJoin('deliveries as d', 'd.id', 'a.delivery_id')
          .select('a.delivery_id'),
      [{ delivery_id: '$delivery' }],
    ],
    'a child of a parent around it': [
      (own) =>
        own
          .selectFrom('deliveries as d')
          .select((eb) => [
            eb
              .selectFrom('delivery_attempts as a')
              .whereRef('a.delivery_id', '=', 'd.id')
              .select(eb.fn.countAll<number>().as('n'))
              .as('attempts'),
          ]),
      [{ attempts: 1 }],
    ],
    'a child joined to a CTE of its parents': [
      (own) =>
        own
          .with('found', (cte) => cte.selectFrom('deliveries as d').selectAll())
          .with('same', (cte) =>
            cte
              .selectFrom('found')
              .select('found.id as parent')
              .union(cte.selectFrom('deliveries').select('id as parent')),
          )
          .selectFrom('delivery_attempts as a')
          .innerJoin('same', 'same.parent', 'a.delivery_id')
          .select('a.delivery_id'),
      [{ delivery_id: '$delivery' }],
    ],
    'a child joined to parents that were changed': [
      (own) =>
        own
          .with('changed', (cte) => cte.updateTable('deliveries').set({ trigger: 'event' }).returning('id'))
          .selectFrom('delivery_attempts as a')
          .innerJoin('changed', 'changed.id', 'a.delivery_id')
          .select('a.delivery_id'),
      [{ delivery_id: '$delivery' }],
    ],
    'raw SQL with parentheses and quotes of its own': [
      (own) => own.selectFrom('prompts').select('id').where(sql<boolean>`(name = any(array['greeting', ')''(']))`),
      [{ id: '$prompt' }],
    ],
    'a child by the ids of its parents': [
      (own) =>
        own
          .selectFrom('delivery_attempts')
          .where('delivery_id', 'in', (eb) => eb.selectFrom('deliveries').select('id'))
          .select('delivery_id'),
      [{ delivery_id: '$delivery' }],
    ],
  };

  test.each(Object.entries(shapes))('%s', async (_name, [build, rows]) => {
    for (const [workspace, prompt, delivery] of [
      [mine, myPrompt, myDelivery],
      [theirs, theirPrompt, theirDelivery],
    ] as const) {
      const expected = JSON.parse(JSON.stringify(rows).replaceAll('$prompt', prompt).replaceAll('$delivery', delivery));
      expect(await db.workspace(workspace).query(build)).toEqual(expected);
    }
  });
});

describe('a workspace changes only its own rows', () => {
  /** Runs a statement in the other workspace and returns its result; ours is unchanged. */
  async function byOther(build: Build): Promise<unknown[]> {
    const before = await labels();
    const rows = await db.workspace(theirs).query(build);
    const own = (all: Awaited<ReturnType<typeof labels>>) => all.filter(({ prompt_id }) => prompt_id === myPrompt);
    expect(own(await labels())).toEqual(own(before));
    return rows;
  }

  test('update', async () => {
    const build: Build = (own) =>
      own.updateTable('prompt_labels').set({ version: 2 }).where('label', '=', 'live').returning('prompt_id');
    expect(await byOther(build)).toEqual([{ prompt_id: theirPrompt }]);
  });

  test('update from', async () => {
    const build: Build = (own) =>
      own
        .updateTable('prompt_labels as l')
        .from('prompts as p')
        .set({ version: 1 })
        .where('p.name', '=', 'greeting')
        .returning(['l.prompt_id', 'p.id']);
    expect(await byOther(build)).toEqual([{ prompt_id: theirPrompt, id: theirPrompt }]);
  });

  test('insert on conflict', async () => {
    const insert =
      (prompt_id: string): Build =>
      (own) =>
        own
          .insertInto('prompt_labels')
          .values({ id: newId(), prompt_id, label: 'live', version: 7, updated_at: now })
          .onConflict((conflict) => conflict.columns(['prompt_id', 'label']).doUpdateSet({ version: 7 }))
          .returning('version');
    expect(await byOther(insert(myPrompt))).toEqual([]);
    expect(await byOther(insert(theirPrompt))).toEqual([{ version: 7 }]);
  });

  test('insert from select', async () => {
    const build: Build = (own) =>
      own
        .insertInto('prompt_labels')
        .columns(['id', 'prompt_id', 'label', 'version', 'updated_at'])
        .expression((eb) =>
          eb
            .selectFrom('prompts as p')
            .innerJoin(unnestOf('given', { id: ['uuid', [newId()]], version: ['integer', [1]] }), (join) =>
              join.onTrue(),
            )
            .select([
              'given.id',
              'p.id as prompt_id',
              sql.lit('copy').as('label'),
              'given.version',
              now.as('updated_at'),
            ]),
        )
        .returning(['prompt_id', 'workspace_id']);
    expect(await byOther(build)).toEqual([{ prompt_id: theirPrompt, workspace_id: theirs }]);
  });

  test('delete using', async () => {
    const build: Build = (own) =>
      own
        .deleteFrom('prompt_labels as l')
        .using('prompts as p')
        .whereRef('l.label', '!=', 'p.name')
        .where('l.label', '=', 'copy')
        .returning('l.prompt_id');
    expect(await byOther(build)).toEqual([{ prompt_id: theirPrompt }]);
  });

  test('delete', async () => {
    expect(await byOther((own) => own.deleteFrom('prompt_labels').returning('prompt_id'))).toEqual([
      { prompt_id: theirPrompt },
    ]);
  });
});

describe('a workspace refuses', () => {
  const refused: Record<string, Build> = {
    'a workspace_id to insert': (own) =>
      own.insertInto('prompt_labels').values({
        id: newId(),
        prompt_id: myPrompt,
        label: 'x',
        version: 1,
        updated_at: now,
        workspace_id: theirs,
      }),
    'a workspace_id to set on a conflict': (own) =>
      own
        .insertInto('prompt_labels')
        .values({ id: newId(), prompt_id: myPrompt, label: 'x', version: 1, updated_at: now })
        .onConflict((conflict) =>
          conflict.columns(['prompt_id', 'label']).doUpdateSet(JSON.parse('{"workspace_id": null}')),
        ),
    'a workspace_id to set': (own) => own.updateTable('prompts').set(JSON.parse('{"workspace_id": null}')),
    'rows from a union': (own) =>
      own
        .insertInto('prompts')
        .columns(['id'])
        .expression((eb) => eb.selectFrom('prompts').select('id').union(eb.selectFrom('prompts').select('id'))),
    'an insert of defaults': (own) => own.insertInto('prompts').defaultValues(),
    'a right join': (own) =>
      own.selectFrom('prompts as p').rightJoin('prompt_labels as l', 'l.prompt_id', 'p.id').select('l.id'),
    'a full join': (own) =>
      own.selectFrom('prompts as p').fullJoin('prompt_labels as l', 'l.prompt_id', 'p.id').select('l.id'),
    'raw SQL that reads a table': (own) => own.selectNoFrom(sql`(select count(*) from "Prompts")`.as('n')),
    'a table in raw SQL': (own) => own.selectNoFrom(sql`(select count(*) from ${sql.table('prompts')})`.as('n')),
    'an identifier of a table in raw SQL': (own) =>
      own.selectNoFrom(sql`(select count(*) from ${sql.id('prompts')})`.as('n')),
    'a table of no workspace': (own) => own.selectFrom('workspaces').select('id'),
    'a table of no workspace in a join': (own) =>
      own.selectFrom('prompts as p').innerJoin('workspaces as w', 'w.id', 'p.workspace_id').select('w.id'),
    'an insert into a table of no workspace': (own) => own.insertInto('rate_limits').values({ key: 'x' }),
    'another schema': (own) => own.withSchema('public').selectFrom('prompts').select('id'),
    'a table that is unknown': (own) => own.selectFrom(sql.table('x').as('x')).selectAll(),
    'a CTE with the name of a table': (own) =>
      own
        .with('prompts', (cte) => cte.selectFrom('prompt_labels').select('id'))
        .selectFrom('prompts')
        .select('id'),
    'a child alone': (own) => own.selectFrom('delivery_attempts').select('attempt'),
    'a child alone in a subquery': (own) =>
      own
        .selectFrom('prompts')
        .select('id')
        .where('id', 'in', (eb) => eb.selectFrom('delivery_attempts').select('delivery_id')),
    'a child beside its parent': (own) =>
      own.selectFrom(['deliveries as d', 'delivery_attempts as a']).select('a.attempt').where('d.id', '=', myDelivery),
    'a child linked by an OR': (own) =>
      own
        .selectFrom(['deliveries as d', 'delivery_attempts as a'])
        .select('a.attempt')
        .where((eb) => eb.or([eb('a.delivery_id', '=', eb.ref('d.id')), eb('a.attempt', '=', 1)])),
    'a child whose parent is left-joined': (own) =>
      own.selectFrom('delivery_attempts as a').leftJoin('deliveries as d', 'd.id', 'a.delivery_id').select('a.attempt'),
    'a child linked to another column': (own) =>
      own
        .selectFrom('delivery_attempts as a')
        .innerJoin('deliveries as d', 'd.event_id', 'a.delivery_id')
        .select('a.attempt'),
    'a child whose key is in values': (own) =>
      own
        .selectFrom('delivery_attempts')
        .where('delivery_id', 'in', (eb) =>
          eb.selectFrom(unnestOf('given', { id: ['uuid', [theirDelivery]] })).select('given.id'),
        )
        .select('attempt'),
    'a child joined to a CTE of constants': (own) =>
      own
        .with('given', (cte) => cte.selectNoFrom(sql<string>`${theirDelivery}::uuid`.as('id')))
        .selectFrom('delivery_attempts as a')
        .innerJoin('given', 'given.id', 'a.delivery_id')
        .select('a.attempt'),
    'a child joined to values beside its parent': (own) =>
      own
        .selectFrom('deliveries as d')
        .innerJoin(unnestOf('given', { id: ['uuid', [theirDelivery]] }), (join) => join.onTrue())
        .innerJoin('delivery_attempts as a', 'a.delivery_id', 'given.id')
        .select('a.attempt'),
    'a child whose key is in a union with values': (own) =>
      own
        .selectFrom('delivery_attempts')
        .where('delivery_id', 'in', (eb) =>
          eb
            .selectFrom('deliveries')
            .select('id')
            .union(eb.selectFrom(unnestOf('given', { id: ['uuid', [theirDelivery]] })).select('given.id')),
        )
        .select('attempt'),
    'a child whose key is in another column of its parent': (own) =>
      own
        .selectFrom('delivery_attempts')
        .where('delivery_id', 'in', (eb) => eb.selectFrom('deliveries').select('event_id'))
        .select('attempt'),
    'a child whose key is in a value beside its parent': (own) =>
      own
        .selectFrom('delivery_attempts')
        .where('delivery_id', 'in', (eb) =>
          eb.selectFrom('deliveries').select(sql<string>`${theirDelivery}::uuid`.as('id')),
        )
        .select('attempt'),
    'a child joined to a CTE that renames a value': (own) =>
      own
        .with('found(id)', (cte) => cte.selectFrom('deliveries').select(sql<string>`${theirDelivery}::uuid`.as('id')))
        .selectFrom('delivery_attempts as a')
        .innerJoin('found', 'found.id', 'a.delivery_id')
        .select('a.attempt'),
    'raw SQL that ends the parentheses around it': (own) =>
      own.selectFrom('prompts').select('id').where(sql<boolean>`false) or (true`),
    'raw SQL that opens parentheses': (own) => own.selectFrom('prompts').select('id').where(sql<boolean>`(true`),
    'raw SQL that ends them in pieces': (own) =>
      own
        .selectFrom('prompts')
        .select('id')
        .where(sql<boolean>`${sql.raw('false) or')} ${sql.raw('(true')}`),
    'raw SQL that hides what comes behind it': (own) =>
      own.selectFrom('prompts').select('id').where(sql<boolean>`true) -- `),
    'raw SQL with a comment': (own) => own.selectFrom('prompts').select('id').where(sql<boolean>`true /* `),
    'raw SQL with an escape string': (own) =>
      own.selectFrom('prompts').select('id').where(sql<boolean>`E'\\'' = '' or true --'`),
    'raw SQL with an open quote': (own) => own.selectFrom('prompts').select('id').where(sql<boolean>`name = '`),
    'raw SQL of two statements': (own) => own.selectFrom('prompts').select('id').where(sql<boolean>`true; select 1`),
    'an update of a child alone': (own) => own.updateTable('delivery_attempts').set({ error: 'x' }),
    'a delete of a child alone': (own) => own.deleteFrom('delivery_attempts'),
    'an insert into a child': (own) =>
      own
        .insertInto('delivery_attempts')
        .values({ delivery_id: theirDelivery, attempt: 2, started_at: now, duration_ms: 1 }),
  };

  test.each(Object.entries(refused))('%s', async (_name, build) => {
    await expect(db.workspace(mine).query(build)).rejects.toThrow(UnboundStatementError);
    await expect(db.workspace(mine).transaction((query) => query(build))).rejects.toThrow(UnboundStatementError);
  });
});

describe('a prepared statement', () => {
  const find = prepared<{ name: string; version: number }>()((db, { name, version }) =>
    db
      .selectFrom('prompts as p')
      .innerJoin('prompt_versions as v', 'v.prompt_id', 'p.id')
      .select(['p.id', 'v.template', 'v.parameters'])
      .where('p.name', '=', name)
      .where('v.version', '=', version),
  );

  test('is bound to the workspace that runs it', async () => {
    const values = { name: 'greeting', version: 1 };
    const row = { template: 'one', parameters: { temperature: 1 } };
    expect(await db.workspace(mine).query(find, values)).toEqual([{ id: myPrompt, ...row }]);
    expect(await db.workspace(theirs).query(find, values)).toEqual([{ id: theirPrompt, ...row }]);
    expect(await db.system.query(find, values)).toHaveLength(2);
  });

  test('is prepared once per connection', async () => {
    await db.workspace(mine).transaction(async (query) => {
      for (const version of [1, 2]) await query(find, { name: 'greeting', version });
      const known = await query<{ known: number }>({
        text: `select count(*) as known from pg_prepared_statements
               where statement like '%"workspace_id"%"v"."version"%' and $1::uuid is not null`,
      });
      expect(known).toEqual([{ known: 1 }]);
    });
  });

  test('takes JSON', async () => {
    const set = prepared<{ parameters: { stop: string[] }; version: number }>()((db, values) =>
      db
        .updateTable('prompt_versions')
        .set({ parameters: asJson(values.parameters) })
        .where('version', '=', values.version)
        .returning('parameters'),
    );
    const parameters = { stop: ['a'] };
    expect(await db.workspace(mine).query(set, { parameters, version: 2 })).toEqual([{ parameters }]);
  });
});

test('a page is of the workspace', async () => {
  const list = {
    select: (own: Builder) => own.selectFrom('prompt_versions').select(['version', 'template']),
    orderBy: [['version', 'desc']],
    bytes: () => sql<number>`octet_length(template)`,
  } as const;
  const page = await selectPage(db.workspace(mine).query, list, 1);
  expect(page).toMatchObject({ rows: [{ version: 2, template: 'two' }], more: true });
  expect(await selectPage(db.workspace(mine).query, list, 2)).toMatchObject({ rows: [{}, {}], more: false });
});

test('every table has an owner or a reason for none', () => {
  expect([...OWNERSHIP.keys()].sort()).toEqual(entities.map(({ meta }) => meta.tableName).sort());
  const without = [...OWNERSHIP].filter(([, { kind }]) => kind === 'none').map(([table]) => table);
  expect(without).toEqual([
    'workspaces',
    'device_authorizations',
    'users',
    'user_groups',
    'rate_limits',
    'search_index',
  ]);
});
