import { Button, NativeSelect, SegmentedControl } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { type ApiKey, type CreatedApiKey, isDeclared, useKeys } from '../../api/keys.ts'
import { useSignedIn } from '../../api/session.ts'
import { AccountFilter } from '../../ui/account-filter.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { Page } from '../../ui/page.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { useSelection } from '../../ui/selection.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { CreateKeyDialog } from './create-key-dialog.tsx'
import { EditKeyDialog } from './edit-key-dialog.tsx'
import { KeySelectionBar } from './key-selection-bar.tsx'
import { KeyTable } from './key-table.tsx'
import styles from './keys-page.module.css'
import { RevokeKeyDialog } from './revoke-key-dialog.tsx'
import { RevokeKeysDialog } from './revoke-keys-dialog.tsx'
import { RotateKeyDialog } from './rotate-key-dialog.tsx'
import { SavedKeyDialog } from './saved-key-dialog.tsx'
import { searchText } from './search-text.ts'

const STATUSES = [
  { value: '', label: 'All' },
  { value: 'active', label: 'Active' },
  { value: 'disabled', label: 'Disabled' },
  { value: 'expired', label: 'Expired' },
  { value: 'revoked', label: 'Revoked' },
]

const ORDERS = [
  { value: '', label: 'Newest first' },
  { value: 'name', label: 'By name' },
  { value: 'last_used', label: 'Last used first' },
  { value: 'expires', label: 'Next to expire first' },
]

/** The open dialog. A new secret is kept here, in the page's memory, until its dialog is closed. */
type Open =
  | { readonly dialog: 'edit' | 'rotate' | 'revoke'; readonly key: ApiKey }
  | { readonly dialog: 'revoke-several'; readonly keys: readonly ApiKey[] }
  | { readonly dialog: 'saved'; readonly key: CreatedApiKey }

const isRevocable = (key: ApiKey): boolean => key.status !== 'revoked' && !isDeclared(key)

/** API keys: find, create, rotate, revoke. */
export function KeysPage() {
  const [{ new: creating, ...filters }, setFilters] = useFilters({ q: '', status: '', account_id: '', sort: '', new: '' })
  const [open, setOpen] = useState<Open>()
  const { user } = useSignedIn()
  const list = useKeys(filters)
  const selection = useSelection({
    rows: list.rows,
    allows: isRevocable,
    labelOf: ({ name, masked }) => `Choose ${name} (${masked})`,
  })
  const create = (): void => setFilters({ new: '1' })
  const close = (): void => setOpen(undefined)
  function show(key: CreatedApiKey): void {
    setFilters({ new: '' })
    setOpen({ dialog: 'saved', key })
  }
  return (
    <Page
      title="API keys"
      about="With a key, a client can call models. Give each client its own key, so that you can revoke one without affecting the others."
      actions={
        <Button leftSection={<IconPlus size={16} />} onClick={create}>
          Create key
        </Button>
      }
    >
      <FilterBar>
        <SearchField
          label="Search by name, key or team=search"
          value={filters.q}
          onSearch={(q) => setFilters({ q: searchText(q) })}
          width={300}
        />
        {user.role === 'admin' && (
          <AccountFilter value={filters.account_id} onChange={(account_id) => setFilters({ account_id })} />
        )}
        <NativeSelect
          aria-label="Order"
          data={ORDERS}
          value={filters.sort}
          onChange={({ currentTarget }) => setFilters({ sort: currentTarget.value })}
        />
        <SegmentedControl
          className={styles.status}
          size="xs"
          aria-label="Status"
          data={STATUSES}
          value={filters.status}
          onChange={(status) => setFilters({ status })}
        />
      </FilterBar>
      <KeySelectionBar
        total={list.total}
        selection={selection}
        onRevoke={() => setOpen({ dialog: 'revoke-several', keys: selection.chosen })}
      />
      <KeyTable
        list={list}
        selection={selection}
        filtered={[filters.q, filters.status, filters.account_id].some((value) => value !== '')}
        onCreate={create}
        onEdit={(key) => setOpen({ dialog: 'edit', key })}
        onRotate={(key) => setOpen({ dialog: 'rotate', key })}
        onRevoke={(key) => setOpen({ dialog: 'revoke', key })}
      />
      {creating !== '' && open === undefined && <CreateKeyDialog onCreated={show} onClose={() => setFilters({ new: '' })} />}
      {open?.dialog === 'edit' && <EditKeyDialog apiKey={open.key} onClose={close} />}
      {open?.dialog === 'rotate' && <RotateKeyDialog apiKey={open.key} onRotated={show} onClose={close} />}
      {open?.dialog === 'revoke' && <RevokeKeyDialog apiKey={open.key} onClose={close} />}
      {open?.dialog === 'revoke-several' && <RevokeKeysDialog keys={open.keys} onClose={close} />}
      {open?.dialog === 'saved' && <SavedKeyDialog apiKey={open.key} onDone={close} />}
    </Page>
  )
}
