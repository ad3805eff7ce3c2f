import { bindWorkspace } from '../../src/db/database.ts';
import { now } from '../../src/db/sql.ts';
import { asJson } from '../../src/db/statement.ts';
import { newId } from '../../src/domain/ids.ts';
import type { Role } from '../../src/domain/roles.ts';
import { createSession } from '../../src/services/access/sessions.ts';
import { signInKeyOf } from '../../src/services/members/members.ts';
import type { TestService } from './service.ts';

/** A person of a workspace, signed in as by an identity provider. */
export interface SignedInMember {
  memberId: string;
  /** What the browser sends with a change by the session. */
  headers: Record<string, string>;
  token: string;
}

/** What a browser sends with a change by a session. */
export const browserHeaders = (token: string): Record<string, string> => ({
  Cookie: `pms_session=${token}`,
  'X-Console': '1',
  'Sec-Fetch-Site': 'same-origin',
});

/** Makes a member, and a session as a sign-in by an identity provider begins it. @param workspace its name */
export async function signInMember(
  { foundation: { db } }: TestService,
  { role, name = 'Ada', workspace = 'default' }: { role: Role; name?: string; workspace?: string },
): Promise<SignedInMember> {
  const memberId = newId();
  const userId = newId();
  const token = await db.system.transaction(async (query) => {
    const [found] = await query((all) => all.selectFrom('workspaces').select('id').where('name', '=', workspace));
    if (found === undefined) throw new Error(`There is no workspace ${workspace}.`);
    await query((all) =>
      all.insertInto('users').values({
        id: userId,
        issuer: 'https://id.example.test',
        subject: userId,
        name,
        grants: asJson([{ workspace, role }]),
        created_at: now,
        updated_at: now,
      }),
    );
    const own = bindWorkspace(query, found.id);
    await own((all) =>
      all.insertInto('members').values({
        id: memberId,
        user_id: userId,
        name,
        role,
        status: 'active',
        created_at: now,
        updated_at: now,
      }),
    );
    const apiKeyId = await signInKeyOf(own, { id: memberId, name });
    const session = await createSession(own, { apiKeyId, address: '192.0.2.1', userAgent: undefined });
    return session.token;
  });
  return { memberId, headers: browserHeaders(token), token };
}
