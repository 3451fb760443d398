import type { ComponentType } from 'react'
import { createBrowserRouter, Navigate, type RouteObject } from 'react-router'
import { AdminsOnly } from './shell/admins-only.tsx'
import { Guard } from './shell/guard.tsx'
import { loadPage } from './shell/load-page.ts'
import { NotFound } from './shell/not-found.tsx'
import { PageError } from './shell/page-error.tsx'

/** A route whose code is loaded on the first visit. */
const page = (path: string, load: () => Promise<ComponentType>): RouteObject => ({
  path,
  lazy: async () => ({ Component: await loadPage(load) }),
})

/** The routes of the console. */
export const router: ReturnType<typeof createBrowserRouter> = createBrowserRouter(
  [
    {
      errorElement: <PageError />,
      hydrateFallbackElement: <></>,
      children: [
        page('/sign-in', async () => (await import('./pages/auth/sign-in-page.tsx')).SignInPage),
        page('/setup', async () => (await import('./pages/auth/setup-page.tsx')).SetupPage),
        page('/invitation', async () => (await import('./pages/auth/invitation-page.tsx')).InvitationPage),
        {
          element: <Guard />,
          children: [
            {
              // Inside the shell, so that the navigation stays visible.
              errorElement: <PageError />,
              children: [
                { path: '/', element: <Navigate to="/keys" replace /> },
                page('/keys', async () => (await import('./pages/keys/keys-page.tsx')).KeysPage),
                page('/connect', async () => (await import('./pages/connect/connect-page.tsx')).ConnectPage),
                page('/models', async () => (await import('./pages/models/models-page.tsx')).ModelsPage),
                page('/playground', async () => (await import('./pages/playground/playground-page.tsx')).PlaygroundPage),
                page('/usage', async () => (await import('./pages/usage/usage-page.tsx')).UsagePage),
                page('/requests/:id?', async () => (await import('./pages/requests/requests-page.tsx')).RequestsPage),
                page('/api', async () => (await import('./pages/api/api-page.tsx')).ApiPage),
                page('/profile', async () => (await import('./pages/profile/profile-page.tsx')).ProfilePage),
                {
                  element: <AdminsOnly />,
                  children: [
                    page('/accounts', async () => (await import('./pages/accounts/accounts-page.tsx')).AccountsPage),
                    page('/routes', async () => (await import('./pages/routes/routes-page.tsx')).RoutesPage),
                    page('/config', async () => (await import('./pages/config/config-page.tsx')).ConfigPage),
                    page('/audit', async () => (await import('./pages/audit/audit-page.tsx')).AuditPage),
                  ],
                },
                { path: '*', element: <NotFound /> },
              ],
            },
          ],
        },
      ],
    },
  ],
  { basename: import.meta.env.BASE_URL.replace(/\/$/, '') },
)
