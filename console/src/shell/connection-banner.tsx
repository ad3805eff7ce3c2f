import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { reportConnection, useConnection } from '../connection.ts';

const RETRY_MS = 2_000;

/** Tells the user that the service can't be reached, polls until it can, and then refetches everything on the page. */
export function ConnectionBanner() {
  const connection = useConnection();
  const client = useQueryClient();
  const router = useRouter();
  useEffect(() => {
    if (connection === 'there') return;
    const timer = setInterval(() => {
      void fetch('/healthz').then(
        (response) => {
          if (!response.ok) return;
          reportConnection('there');
          void router.invalidate();
          void client.invalidateQueries();
        },
        () => {},
      );
    }, RETRY_MS);
    return () => clearInterval(timer);
  }, [connection, client, router]);
  return (
    <div role="status" className="connection">
      {connection === 'lost' && <p>The service cannot be reached. Trying again…</p>}
    </div>
  );
}
