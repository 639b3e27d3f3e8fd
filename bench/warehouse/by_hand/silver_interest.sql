SELECT product_id, trunc(viewed_on, 'MM') AS view_month FROM wh_bronze.page_views.changes
