/** Keys below the top level of published requests that the gateway does not guard by their name, by what they can do. */
const UNGUARDED = {
  address: `
    file_url image_url server_url url`,
  capability: `
    authorization authorization_token connector_id domain_secrets mcp_server_name`,
  cost: `
    bill_to budget_tokens effort max_tokens max_uses partial_images quality search_context_size size speed task_budget`,
  harmless: `
    acknowledged_safety_checks action actions active allowed_callers allowed_domains allowed_tools always annotations
    approve approximate arguments async attributes background block_binding blocked_domains button bytes cache_control
    caching call_id caller caller_id categories citations cited_text city clear_at clear_at_least clear_tool_inputs
    client_tool_results close_tab code command commands compact_threshold complexity configs content context
    context_compression country cursor_position custom cyber data default_config defer_loading definition description detail
    diff disable_parallel_tool_use display display_height display_height_px display_number display_width display_width_px
    document_index document_title domain double_click download_id eager_input_streaming edits embedding_weight enable_zoom
    enabled encrypted_content encrypted_index encrypted_stdout end_block_index end_char_index end_index end_page_number env
    environment error error_code error_message exclude_tools execution exit_code external_web_access file file_data
    file_type file_upload filename filters find fingerprint form_input format frame_count frame_duration_ms from function
    function_call generate_summary get_page_text grammar headers hold_key hover hybrid_search id include_obfuscation
    include_usage index input input_audio input_examples input_fidelity input_image_mask input_schema input_tokens
    instructions is_error is_file_update javascript_exec json_schema keep key keys left_click left_click_drag
    left_mouse_down left_mouse_up lines list_tabs logprob logprobs logs max_characters max_content_tokens max_num_results
    max_output_length media_type memory_limit message middle_click mode moderation moderation_details moderation_stage
    mouse_move name namespace navigate network_policy never new_lines new_start new_tab num_lines old_lines old_start
    operation outcome output output_compression output_config output_format output_schema output_tokens outputs
    oversized_image page_age param parameters path pattern pause_after_compaction pending_safety_checks phase policy
    prefix_mismatch_behavior prefix_padding_ms prewarm prompt_cache_breakpoint properties queries query ranker
    ranking_options read_console read_network read_only read_page reason reasoning reasoning_tokens refusal region remaining
    require_approval required response_inclusion result results retrieved_at return_code revised_prompt right_click role
    schema score score_threshold screenshot scroll scroll_to scroll_x scroll_y search_content_types search_result_index
    server_description server_label server_name server_tool_results signature silence_duration_ms size_bytes skills source
    sources start_block_index start_char_index start_index start_line start_page_number state_changes status stderr stdout
    stop_reason strict summary svg svg_usage switch_tab syntax tab_id tabs text text_weight thinking threshold timeout_ms
    timezone title to token tool tool_call_id tool_calls tool_changes tool_configuration tool_id tool_name tool_names
    tool_references tool_use_id tools toolset_name top_logprobs total total_lines total_tokens transformations trigger
    triple_click ttl type url_sources use_cache user user_id user_input user_location value variables verbosity version wait
    working_directory x y zoom`,
}

/** Whether a key below the top level is known, and needs no guard. */
export const isUnguarded = (key: string): boolean => KEYS.has(key)

const KEYS: ReadonlySet<string> = new Set(Object.values(UNGUARDED).flatMap((keys) => keys.trim().split(/\s+/)))
