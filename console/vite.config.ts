import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** Where `npx vite console` finds a gateway. */
const gateway = process.env.UMG_CONSOLE_GATEWAY ?? 'http://127.0.0.1:8080'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/console/',
  plugins: [react()],
  // The gateway replaces this by a new nonce in every reply.
  html: { cspNonce: 'NONCE' },
  build: {
    // The first versions that support light-dark() and everything else in use.
    target: ['chrome123', 'firefox121', 'safari17.5'],
    // No data: URLs, which the content security policy forbids.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 900,
    // One style sheet, and two files beside that of each page: a first visit asks for a dozen files, not for fifty.
    cssCodeSplit: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'libraries', test: /node_modules\/(?!uplot)/, priority: 2 },
            { name: 'shared', test: /console\/src\/(?:api|shell|theme|ui)\//, priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': gateway, '/v1': gateway } },
})
