import '@mantine/core/styles.css'
import './theme/global.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'

/** The nonce in the index; scripts can read it only by this property. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''

// Mantine's scroll lock reads its nonce here (the package get-nonce).
Object.assign(globalThis, { __webpack_nonce__: nonce })

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App nonce={nonce} />
  </StrictMode>,
)
