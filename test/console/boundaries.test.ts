import { expect } from 'chai'
import { readSources } from '../support/sources.ts'

const SOURCES = readSources('console/src/**/*.{ts,tsx}')

describe('the sources of the console', () => {
  it('import nothing from the gateway or Node', () => {
    const outside = SOURCES.flatMap(({ path, inner, imports }) => [
      ...inner.filter((target) => !target.startsWith('console/src/')).map((target) => `${path} imports ${target}`),
      ...imports.filter((name) => /^(?:node:|unified-model-gateway)/.test(name)).map((name) => `${path} imports ${name}`),
    ])
    expect(outside).to.deep.equal([])
  })

  it('send requests in one place, except the playground, and the check for a newer console', () => {
    const fetching = SOURCES.filter(({ code }) => /\bfetch\(/.test(code)).map(({ path }) => path)
    expect(fetching).to.have.members([
      'console/src/api/http.ts',
      'console/src/pages/playground/use-conversation.ts',
      'console/src/shell/load-page.ts',
    ])
  })

  it('never insert HTML', () => {
    const unsafe = SOURCES.filter(({ code }) =>
      /dangerouslySetInnerHTML|\.(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write/.test(code),
    )
    expect(unsafe.map(({ path }) => path)).to.deep.equal([])
  })

  it('use no browser storage', () => {
    const keeping = SOURCES.filter(({ code }) => /\b(?:localStorage|sessionStorage|indexedDB)\b/.test(code))
    expect(keeping.map(({ path }) => path)).to.deep.equal([])
  })
})
