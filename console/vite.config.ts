import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** Where `npx vite console` finds a gateway. */
const gateway = process.env.UMG_CONSOLE_GATEWAY ?? 'http://127.0.0.1:8080'

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/console/',
  plugins: [react()],
  // The gateway puts a fresh nonce here with every index it serves.
  html: { cspNonce: 'NONCE' },
  build: {
    // The first of each with light-dark() and all else that is used.
    target: ['chrome123', 'firefox121', 'safari17.5'],
    // No data: URLs: the content security policy admits what the gateway serves, and nothing else.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: { '/api': gateway, '/v1': gateway } },
})
