import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Toasts } from './components/toast.tsx';
import { nonce } from './nonce.ts';
import { createConsoleRouter } from './router.ts';
import { keepFocus } from './shell/keep-focus.ts';
import { openInvalid } from './shell/open-invalid.ts';
import { createConsoleQueryClient } from './shell/query-client.ts';
import { applyTheme } from './shell/theme.ts';
import '@fontsource-variable/inter/wght.css';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/layout.css';

applyTheme();
keepFocus();
openInvalid();
const queryClient = createConsoleQueryClient();
const router = createConsoleRouter(queryClient);

const root = document.getElementById('root');
if (root)
  createRoot(root).render(
    <StrictMode>
      <CSPProvider nonce={nonce} disableStyleElements>
        <QueryClientProvider client={queryClient}>
          <Toasts>
            <RouterProvider router={router} />
          </Toasts>
        </QueryClientProvider>
      </CSPProvider>
    </StrictMode>,
  );
