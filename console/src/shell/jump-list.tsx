import { Combobox, Group, Kbd, Modal, Text, TextInput, useCombobox } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useEffect, useState } from 'react'
import { useNavigate } from 'react-router'
import { useSignedIn } from '../api/session.ts'
import styles from './jump-list.module.css'
import { closeJumpList, openJumpList, useJumpListOpen } from './jump-list-state.ts'
import { jumpsFor } from './jumps.ts'

/** ⌘K or Ctrl-K: finds a page, an action or a request. */
export function JumpList() {
  const open = useJumpListOpen()
  useHotkeys([['mod+K', openUnlessAsked]], [])
  return (
    <Modal.Root
      opened={open}
      onClose={closeJumpList}
      size={520}
      yOffset="12vh"
      centered={false}
      transitionProps={{ duration: 100 }}
    >
      <Modal.Overlay />
      <Modal.Content aria-label="Jump to a page">
        <Modal.Body p={0}>
          <Jumps />
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}

/** Not over another dialog: it may show a secret that is shown once. */
function openUnlessAsked(): void {
  if (document.querySelector('[role="dialog"]') === null) openJumpList()
}

function Jumps() {
  const [text, setText] = useState('')
  const { user } = useSignedIn()
  const navigate = useNavigate()
  const combobox = useCombobox({ opened: true })
  const jumps = jumpsFor(text, user.role)
  // After the options are rendered, so that Enter selects the first.
  useEffect(() => void combobox.selectFirstOption(), [text])
  function go(path: string): void {
    closeJumpList()
    void navigate(path)
  }
  return (
    <Combobox store={combobox} onOptionSubmit={go}>
      <Combobox.EventsTarget withExpandedAttribute>
        <TextInput
          data-autofocus
          aria-label="Go to"
          placeholder="Page or request id"
          variant="unstyled"
          size="md"
          px="md"
          leftSection={<IconSearch size={18} />}
          rightSection={<Kbd size="xs">Esc</Kbd>}
          rightSectionWidth={56}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          // The combobox keeps the key from the dialog around it, to close its own list first.
          onKeyDown={({ key }) => key === 'Escape' && closeJumpList()}
        />
      </Combobox.EventsTarget>
      <Combobox.Options className={styles.options} aria-label="Go to" tabIndex={0}>
        {jumps.map(({ path, name, icon: Icon, hint }) => (
          <Combobox.Option key={path} value={path}>
            <Group gap="sm">
              <Icon size={17} stroke={1.7} aria-hidden="true" />
              <Text size="sm">{name}</Text>
              <Text size="xs" ml="auto" className={styles.hint}>
                {hint}
              </Text>
            </Group>
          </Combobox.Option>
        ))}
        {jumps.length === 0 && <Combobox.Empty>No matches</Combobox.Empty>}
      </Combobox.Options>
    </Combobox>
  )
}
